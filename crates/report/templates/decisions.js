// Which sources are rejected: kept in the page and, where the browser allows it, from one visit to the next.
// Out: the command that removes what was rejected, and a file `decisions.json`:
// {"strt": "decisions", "version": 1, "run": name of the folder, "fingerprint": that of the recording in 16 hexadecimal digits,
//  "sources": [{"name": "s1", "keep": true}, …]}

class Decisions {
  constructor(recording) {
    this.recording = recording;
    this.names = recording.series.slice(0, recording.sources).map((series) => series.name);
    this.key = `strt-decisions-${recording.fingerprint}-${recording.result}`;
    this.listeners = [];
    this.rejected = new Set(this.remembered());
  }

  // Storage may be refused, as for some pages from disk: then decisions last as long as the page.
  remembered() {
    try {
      const names = JSON.parse(localStorage.getItem(this.key));
      return Array.isArray(names) ? names.map((name) => this.names.indexOf(name)).filter((k) => k >= 0) : [];
    } catch { return []; }
  }
  remember() {
    try { localStorage.setItem(this.key, JSON.stringify(this.list().map((k) => this.names[k]))); } catch { /* see above */ }
  }

  list() { return [...this.rejected].sort((a, b) => a - b); }
  set(k, rejected) {
    if (this.rejected.has(k) === rejected) return;
    if (rejected) this.rejected.add(k); else this.rejected.delete(k);
    this.changed();
  }
  toggle(k) { this.set(k, !this.rejected.has(k)); }
  keepAll() { this.rejected.clear(); this.changed(); }
  changed() { this.remember(); for (const listener of this.listeners) listener(); }

  json() {
    const sources = this.names.map((name, k) => ({ name, keep: !this.rejected.has(k) }));
    // What is undefined is left out: a page outside a folder knows no run.
    const { run, fingerprint } = this.recording, about = { strt: "decisions", version: 1, run: run || undefined };
    return JSON.stringify({ ...about, fingerprint, sources }, null, 2) + "\n";
  }
  command() {
    const { run } = this.recording, names = this.list().map((k) => this.names[k]);
    return `strt clean ${run ? shellWord(run) : "RUN"} --remove ${names.join(",")}`;
  }
}

// A name as a shell takes it for one word, and no option.
function shellWord(name) {
  const word = name.startsWith("-") ? "./" + name : name;
  return /^[\w.\/-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

function saveFile(name, contents) {
  const link = document.createElement("a"), address = URL.createObjectURL(new Blob([contents], { type: "application/json" }));
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

async function copyText(element) {
  try { await navigator.clipboard.writeText(element.textContent); return true; } catch { /* the older way below */ }
  getSelection().selectAllChildren(element);
  return document.execCommand("copy");
}

// The bar that says what was decided.
function startDecisionBar(decisions) {
  const bar = document.querySelector(".decisions"), find = (name) => bar.querySelector(name);
  const show = () => {
    const rejected = decisions.list(), some = rejected.length > 0;
    find(".count").textContent = some
      ? `${rejected.length} of ${decisions.names.length} rejected: ${rejected.map((k) => decisions.names[k]).join(", ")}`
      : `All ${decisions.names.length} kept`;
    find(".command").hidden = !some;
    find(".keep-all").disabled = !some;
    find("code").textContent = some ? decisions.command() : "";
  };
  find(".save").addEventListener("click", () => saveFile("decisions.json", decisions.json()));
  find(".keep-all").addEventListener("click", () => decisions.keepAll());
  find(".copy").addEventListener("click", async (event) => {
    event.target.textContent = (await copyText(find("code"))) ? "Copied" : "Select and copy";
    setTimeout(() => { event.target.textContent = "Copy"; }, 1500);
  });
  decisions.listeners.push(show);
  show();
}
