"""The first 20 steps of preset `paper` in PyTorch: the golden trajectory of tests/golden.rs.

    pip install -r requirements.txt
    python make_golden.py               # writes paper.safetensors beside this file

An independent second implementation: objective and Algorithm 1 from the paper, constants from the
defaults of the configuration, derivatives by autograd, updates by torch.optim.Adam, all in float64
on one thread. The same versions on the same kind of processor write the same file, bit for bit.

What is written (names of network tensors as in crates/kernels/src/layout.rs, matrices inputs x
outputs):

    observations, prepared, whitened   channels (T, m): raw, standardised; their whitened
                                       components (T, K)
    sources, mixer.{w,b}, raw_gaps, branches.k.r.*   initial parameters
    gradients.<name>                   dJ/d(each of them) before the first update
    masks.k.r                          ascending masked patches of every step (steps, |M|)
    objective, terms.*                 J and its unweighted terms before each update (steps,)

Sizes are smaller than the preset's to keep the file small; parameters start away from the preset's
own start (noise on sources, gains, biases and gaps), so that no term and no gradient vanishes and
hides an error.
Shapes: T samples, m channels, K sources, R scales, N patches of P samples, d model width, H heads.
"""
import json, math, platform
from pathlib import Path
import numpy, safetensors, torch
import torch.nn.functional as F
from safetensors.torch import save_file

SEED, STEPS = 20, 20
T, M, K = 183, 4, 3  # T leaves a remainder at every scale

C = SETTINGS = dict(
    # The first line is smaller than the preset's, the rest is the preset resolved for this
    # recording.
    patch_sizes=[4, 8, 16], d_model=8, n_heads=2, n_layers=2, ffn_ratio=2,
    stride_ratio=1.0, mask_ratio=0.4,
    sharpness=4.0, slope_max=1.0, slope_min=0.02, gap_floor=1e-3,
    gap_target=0.8,                             # in units of (a_max - a_min)/(K + 1)
    observation_variance=100.0 * T * M / 6000,  # nu_y: 100 per 6000 observed values
    structure=10.0 * K / 3, separation=30.0 / K, smoothness=0.1, entropy=0.05, gap=300.0,
    sources_epsilon=1e-6, entropy_epsilon=1e-6, norm_epsilon=1e-5,
    rates=dict(sources=0.02, mixer=0.01, raw_gaps=0.01, branches=0.003),
    beta1=0.9, beta2=0.999, adam_epsilon=1e-8,
)


def draw_observations(g):
    """Three autoregressive sources of different correlation times, mixed.

    Channels differ in offset and unit.
    """
    innovations, x = torch.randn(T, K, generator=g), torch.zeros(T, K)
    memory = torch.exp(-1.0 / torch.tensor([2.0, 8.0, 30.0]))
    for t in range(1, T):
        x[t] = memory * x[t - 1] + (1 - memory**2).sqrt() * innovations[t]
    y = x @ torch.randn(K, M, generator=g) + 0.05 * torch.randn(T, M, generator=g)
    return y * torch.tensor([0.3, 1.0, 7.0, 40.0]) + torch.tensor([5.0, -1.0, 0.0, 100.0])


def draw_branch(patch, g):
    """The named tensors of one branch: fan-in scaled weights; gains and biases near 1 and 0."""
    d, f = C["d_model"], C["ffn_ratio"] * C["d_model"]
    weight = lambda i, o: torch.randn(i, o, generator=g) / math.sqrt(i)
    bias = lambda n: 0.1 * torch.randn(n, generator=g)
    gain = lambda n: 1.0 + bias(n)
    p = {"embed.w_in": weight(patch, d), "embed.b_in": bias(d), "embed.mask_token": bias(d)}
    for l in range(C["n_layers"]):
        layer = {
            "norm1.gain": gain(d), "norm1.bias": bias(d),
            "attention.w_qkv": weight(d, 3 * d), "attention.b_qkv": bias(3 * d),
            "attention.w_o": weight(d, d), "attention.b_o": bias(d),
            "norm2.gain": gain(d), "norm2.bias": bias(d),
            "ffn.w_1": weight(d, f), "ffn.b_1": bias(f),
            "ffn.w_2": weight(f, d), "ffn.b_2": bias(d),
        }
        p |= {f"layers.{l}.{name}": value for name, value in layer.items()}
    p |= {"norm.gain": gain(d), "norm.bias": bias(d)}
    return p | {"head.w_out": weight(d, patch), "head.b_out": bias(patch)}


def grid(patch):
    """Stride q and number N of patches on a fixed grid that starts at sample 0."""
    q = max(1, math.floor(C["stride_ratio"] * patch + 0.5))
    return q, (T - patch) // q + 1


def draw_masks(patch, g):
    """The masked patches of every step (steps, |M|)."""
    n = grid(patch)[1]
    size = max(1, math.floor(C["mask_ratio"] * n + 0.5))
    return torch.stack([torch.randperm(n, generator=g)[:size].sort().values for _ in range(STEPS)])


def positions(n):
    """Sinusoidal encoding (N, d): sin and cos of i * 10000^(-2c/d), interleaved."""
    c = torch.arange(C["d_model"] // 2)
    angle = torch.arange(n)[:, None] * 10000.0 ** (-2 * c / C["d_model"])
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def masked_energy(s, patch, p, slope, mask):
    """l_kr: masked patch reconstruction error of a source s (T,).

    It is predicted by a pre-norm encoder with locality bias.
    """
    d, heads = C["d_model"], C["n_heads"]
    q_r, n = grid(patch)
    patches = s.unfold(0, patch, q_r)  # (N, P)
    hidden = torch.zeros(n, 1, dtype=torch.bool).index_fill(0, mask, True)
    embedded = patches @ p["embed.w_in"] + p["embed.b_in"]
    x = torch.where(hidden, p["embed.mask_token"], embedded) + positions(n)
    i = torch.arange(n)
    locality = -slope * (i[:, None] - i).abs()  # (N, N)
    norm = lambda x, name: F.layer_norm(
        x, (d,), p[f"{name}.gain"], p[f"{name}.bias"], C["norm_epsilon"])
    split = lambda x: x.view(n, heads, -1).transpose(0, 1)  # (H, N, d/H)
    for l in range(C["n_layers"]):
        a, f = f"layers.{l}.attention", f"layers.{l}.ffn"
        qkv = norm(x, f"layers.{l}.norm1") @ p[f"{a}.w_qkv"] + p[f"{a}.b_qkv"]
        query, key, value = (split(part) for part in qkv.split(d, -1))
        weights = torch.softmax(query @ key.mT / math.sqrt(d / heads) + locality, -1)
        x = x + (weights @ value).transpose(0, 1).reshape(n, d) @ p[f"{a}.w_o"] + p[f"{a}.b_o"]
        h = F.gelu(norm(x, f"layers.{l}.norm2") @ p[f"{f}.w_1"] + p[f"{f}.b_1"])
        x = x + h @ p[f"{f}.w_2"] + p[f"{f}.b_2"]
    predicted = norm(x, "norm") @ p["head.w_out"] + p["head.b_out"]
    return (predicted - patches)[mask].square().mean()  # targets carry gradient to s


def controller(raw_gaps):
    """Ordered centers c (K,), scale weights pi (K, R), locality slopes alpha (K,), gap target."""
    a = torch.tensor(C["patch_sizes"]).log()
    delta = F.softplus(raw_gaps) + C["gap_floor"]
    u = delta.cumsum(0)[:-1] / delta.sum()
    centers = a[0] + (a[-1] - a[0]) * u
    weights = torch.softmax(-C["sharpness"] * (a - centers[:, None]) ** 2, -1)
    slopes = C["slope_max"] * (C["slope_min"] / C["slope_max"]) ** u
    return centers, weights, slopes, C["gap_target"] * (a[-1] - a[0]) / (K + 1)


def objective(y, params, networks, masks):
    """J and its unweighted terms. `masks[k][r]` are the masked patches of branch (k, r)."""
    s = params["sources"]
    centers, pi, slopes, gap_target = controller(params["raw_gaps"])
    energy = torch.stack([torch.stack([
        masked_energy(s[:, k], patch, networks[k][r], slopes[k], masks[k][r])
        for r, patch in enumerate(C["patch_sizes"])]) for k in range(K)])  # (K, R)
    v = s - s.mean(0)
    z = v / (v.square().mean(0).sqrt() + C["sources_epsilon"])
    reconstructed = s @ params["mixer.w"] + params["mixer.b"]
    terms = dict(
        reconstruction=(y - reconstructed).square().sum() / (2 * C["observation_variance"]),
        structure=(pi * energy).sum(1).mean(),
        separation=(z.T @ z / T - torch.eye(K)).square().sum(),
        smoothness=s.diff(n=2, dim=0).square().mean(),
        entropy=-(pi * torch.log(pi + C["entropy_epsilon"])).sum(1).mean(),
        gap=F.relu(gap_target - centers.diff()).square().mean(),
    )
    # Reconstruction has weight 1.
    return sum(term * C.get(name, 1.0) for name, term in terms.items()), terms


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(SEED)
    observations = draw_observations(g)
    y = (observations - observations.mean(0)) / observations.std(0, correction=0)
    whitened = torch.linalg.svd(y, full_matrices=False).U[:, :K] * math.sqrt(T)
    params = {
        "sources": whitened + 0.3 * torch.randn(T, K, generator=g),
        "mixer.w": torch.randn(K, M, generator=g) / math.sqrt(K),
        "mixer.b": 0.1 * torch.randn(M, generator=g),
        # The first pair of centers is closer than the gap target.
        "raw_gaps": torch.tensor([0.3, -0.9, 0.4, 0.1]),
    }
    networks = [[draw_branch(patch, g) for patch in C["patch_sizes"]] for _ in range(K)]
    for k, row in enumerate(networks):
        for r, network in enumerate(row):
            params |= {f"branches.{k}.{r}.{name}": value for name, value in network.items()}
    record = {"observations": observations, "prepared": y, "whitened": whitened}
    record |= {name: value.clone() for name, value in params.items()}
    for value in params.values():
        value.requires_grad_()  # the networks hold the same tensors

    masks = [[draw_masks(patch, g) for patch in C["patch_sizes"]] for _ in range(K)]
    record |= {f"masks.{k}.{r}": rows for k, row in enumerate(masks) for r, rows in enumerate(row)}

    group = lambda prefix: [value for name, value in params.items() if name.startswith(prefix)]
    groups = [dict(params=group(prefix), lr=rate) for prefix, rate in C["rates"].items()]
    adam = torch.optim.Adam(groups, betas=(C["beta1"], C["beta2"]), eps=C["adam_epsilon"])
    history = []
    for step in range(STEPS):
        adam.zero_grad()
        drawn = [[rows[step] for rows in row] for row in masks]
        total, terms = objective(y, params, networks, drawn)
        total.backward()
        if step == 0:
            record |= {f"gradients.{name}": value.grad.clone() for name, value in params.items()}
        named = {"objective": total} | {f"terms.{name}": term for name, term in terms.items()}
        history.append({name: value.detach() for name, value in named.items()})
        adam.step()
        print(step, " ".join(f"{name} {float(value):.9g}" for name, value in history[-1].items()))
    record |= {name: torch.stack([row[name] for row in history]) for name in history[0]}

    versions = {library.__name__: library.__version__ for library in (torch, numpy, safetensors)}
    versions["python"] = platform.python_version()
    settings = dict(preset="paper", seed=SEED, steps=STEPS, n_samples=T, n_channels=M,
                    n_sources=K, **SETTINGS)
    # One metadata entry: safetensors writes several in no fixed order.
    metadata = {"golden": json.dumps(dict(versions=versions, settings=settings), sort_keys=True)}
    tensors = {name: value.contiguous() for name, value in record.items()}
    save_file(tensors, Path(__file__).with_name("paper.safetensors"), metadata)


if __name__ == "__main__":
    main()
