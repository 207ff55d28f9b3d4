"""One training step of StrTransformer in PyTorch: what `strt-lab speed` is compared with.

problem    the tensors of one step, as written by the program
objective  everything of J but the branches: sources, controller, mixer, penalties
loop       the branches as a person would write them first: one nn.Module each, one after the other
batched    the branches of all sources at once, one call per scale
training   one step (objective, backward pass, Adam), timed and checked

Symbols: T samples, m channels, K sources, R scales, N patches of P samples, d model width, H heads,
M masked patches.
"""
