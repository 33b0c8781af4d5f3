// The page of smallearn app: asks the server, shows what it answers. Text from tables is only ever set as text.
const at = (id) => document.getElementById(id);
const HEADER = document.querySelector("meta[name=request-header]").content;
const STEPS = ["table", "target", "fit", "model", "compare", "export"];
const POLL = 300; // milliseconds
const state = { table: null, columns: null, learned: null, drop: new Set(), keep: new Set(), models: [], exports: [], job: null, set: {} };

// --- asking the server ----------------------------------------------------------------------------------------------

async function ask(path, { method = "GET", body = null, type = "application/json" } = {}) {
  let answer;
  try {
    answer = await fetch(path, { method, body, headers: { "x-smallearn": HEADER, ...(body === null ? {} : { "content-type": type }) } });
  } catch {
    throw new Error("smallearn app does not answer: it may have been stopped in its terminal.");
  }
  if (!answer.ok) throw new Error((await answer.text()).trim() || `The server answered ${answer.status}.`);
  return answer;
}

const send = async (path, content) => (await ask(path, { method: "POST", body: JSON.stringify(content) })).json();
const pause = (time) => new Promise((done) => setTimeout(done, time));

// Runs a job to its end; its result, or null if it was cancelled.
async function work(path, content) {
  return follow(await send(path, content));
}

async function follow(begun) {
  let job = begun;
  state.job = job.number;
  busy(true);
  try {
    while (job.state === "running") {
      showJob(job);
      await pause(POLL);
      job = await (await ask(`/api/jobs/${job.number}`)).json();
    }
  } finally {
    state.job = null;
    busy(false);
  }
  if (job.state === "failed") throw new Error(sentence(job.result));
  return job.state === "done" ? job.result : null;
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");

function busy(is) {
  at("job").hidden = !is;
  for (const id of ["fit", "compare", "reread", "to-fit"]) at(id).disabled = is;
  for (const button of document.querySelectorAll("#shape button, #tables button, #notes button")) button.disabled = is;
  at("file").disabled = is;
  if (is) at("error").hidden = true;
}

function showJob(job) {
  const { stage = "Starting", done = 0, total = 0, left = null } = job.progress;
  at("job-stage").textContent = `${stage}…`;
  const parts = total ? [`${done} of ${total} fits`] : [];
  if (left !== null && done < total) parts.push(`about ${duration(left)} left`);
  parts.push(`${duration(job.seconds)} so far`);
  at("job-left").textContent = parts.join(", ");
  if (total) { at("job-bar").max = total; at("job-bar").value = done; } else at("job-bar").removeAttribute("value");
}

function duration(seconds) {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
}

// What a user asked for; what goes wrong is shown.
function act(action) {
  return async (event) => {
    at("error").hidden = true;
    try {
      await action(event);
    } catch (error) {
      at("error").textContent = error.message;
      at("error").hidden = false;
    }
  };
}

// --- building the page ----------------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const row = (cells, tag = "td", attributes = {}) => make("tr", {}, ...cells.map((cell) => make(tag, attributes, cell)));

function fillTable(table, head, lines) {
  const body = lines.map(([first, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, first), ...cells.map((cell) => make("td", {}, cell))));
  table.replaceChildren(make("thead", {}, row(head, "th", { scope: "col" })), make("tbody", {}, ...body));
}

function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => make("option", { value, selected: String(value) === String(chosen) }, text)));
}

const whole = (number) => number.toLocaleString("en");
const rows = (number) => (number === 1 ? "1 row" : `${whole(number)} rows`);

function go(step) {
  for (const name of STEPS) {
    at(`step-${name}`).hidden = name !== step;
    const button = document.querySelector(`[data-step=${name}]`);
    if (name === step) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
  if (step === "model") showModel();
  if (step === "export") showExport();
  at(`head-${step}`).focus();
  if (step !== "model") scrollTo(0, 0);
}

function allow(...steps) {
  for (const name of STEPS) {
    if (steps.includes(name)) document.querySelector(`[data-step=${name}]`).disabled = false;
  }
}

// --- tables ---------------------------------------------------------------------------------------------------------

function showTables(tables) {
  at("tables").replaceChildren(...tables.map((table) =>
    make("li", {}, make("button", { type: "button", className: "app-plain", onclick: act(() => read(table.number)) }, `Use ${table.name}`))));
}

async function upload(file) {
  if (!file) return;
  at("job").hidden = false;
  at("cancel").hidden = true;
  at("job-stage").textContent = `Taking ${file.name}…`;
  at("job-left").textContent = "";
  at("job-bar").removeAttribute("value");
  let table;
  try {
    const path = `/api/tables?name=${encodeURIComponent(file.name)}`;
    table = await (await ask(path, { method: "PUT", body: file, type: "application/octet-stream" })).json();
  } finally {
    at("job").hidden = true;
    at("cancel").hidden = false;
    at("file").value = "";
  }
  showTables((await (await ask("/api/state")).json()).tables);
  await read(table.number);
}

async function read(number) {
  const missing = at("missing").value.split(",").map((text) => text.trim()).filter(Boolean);
  state.table = number;
  const facts = await work("/api/read", { table: number, encoding: at("encoding").value || "utf-8", missing });
  if (facts === null) return;
  state.columns = facts;
  state.learned = null;
  state.drop.clear();
  state.keep.clear();
  showColumns(facts);
  allow("target");
  go("target");
}

// Reads the table again with further codes that mean a missing value, and goes on with the same target and columns.
async function readWithout(codes) {
  const target = at("target").value, drop = [...state.drop], keep = [...state.keep];
  at("missing").value = [at("missing").value.trim(), ...codes].filter(Boolean).join(", ");
  at("reading").open = true;
  await read(state.table);
  drop.forEach((name) => state.drop.add(name));
  keep.forEach((name) => state.keep.add(name));
  at("target").value = target;
  await choose();
}

function showColumns(facts) {
  at("table-facts").textContent = `${rows(facts.n_rows)}, ${whole(facts.columns.length)} columns. The first rows:`;
  const names = facts.columns.map((column) => column.name);
  at("preview").replaceChildren(
    make("thead", {}, row(names, "th", { scope: "col" })),
    make("tbody", {}, ...facts.preview.map((cells) => row(cells))));
  const few = facts.columns.filter((column) => column.may_be_classes);
  const others = facts.columns.filter((column) => !column.may_be_classes);
  const entry = (column) => make("option", { value: column.name }, `${column.name} (${described(column)})`);
  const group = (label, columns) => (columns.length ? make("optgroup", { label }, ...columns.map(entry)) : null);
  at("target").replaceChildren(...[
    make("option", { value: "" }, "Choose a column"), group("Few different values", few), group("Other columns", others),
  ].filter(Boolean));
  at("chosen").hidden = true;
}

function described(column) {
  const named = column.common.slice(0, 3).map(([value]) => value).join(", ");
  return column.n_different > 3 ? `${whole(column.n_different)} values: ${named}, …` : named;
}

// --- target and columns ---------------------------------------------------------------------------------------------

const setup = () => ({
  table: state.table,
  target: at("target").value,
  drop: [...state.drop],
  keep: [...state.keep],
});

async function choose() {
  at("chosen").hidden = true;
  if (at("target").value === "") return;
  const learned = await work("/api/choose", setup());
  if (learned === null) return;
  state.learned = learned;
  showLearned(learned);
  allow("fit");
}

function showLearned(learned) {
  const total = learned.n_rows;
  const each = learned.classes.map(([label, number]) => `${label} ${whole(number)} (${share(number, total)})`);
  at("classes").textContent = `${rows(total)} to learn from. Classes: ${each.join(", ")}.`;
  fillTable(at("features"), ["Column", "Use", "Kind", "Values", "Missing"], learned.features.map((one) => [
    one.name, tick(one.name, true, state.drop, true), one.kind, one.values, one.n_missing ? share(one.n_missing, total) : "none",
  ]));
  const asked = learned.ignored.filter((one) => state.drop.has(one.name));
  const ignored = learned.ignored.filter((one) => !state.drop.has(one.name));
  fillTable(at("ignored"), ["Column", "Why", "Use"], [
    ...asked.map((one) => [one.name, "left out by you", tick(one.name, false, state.drop, true)]),
    ...ignored.map((one) => [one.name, one.reason, one.may_keep ? tick(one.name, false, state.keep, false) : ""]),
  ]);
  at("ignored-part").hidden = learned.ignored.length === 0;
  at("notes").replaceChildren(...learned.notes.map((text) => make("li", {}, text)));
  if (learned.codes.length) {
    const codes = learned.codes.join(", ");
    const onclick = act(() => readWithout(learned.codes));
    at("notes").append(make("li", {}, "If that means a missing value: ", make("button", { type: "button", className: "app-plain", onclick }, `Read ${codes} as missing`)));
  }
  at("notes-part").hidden = learned.notes.length === 0;
  at("fit-facts").textContent = `${at("target").value} from ${whole(learned.features.length)} columns of ${rows(total)}.`;
  const rare = learned.rare === null ? null : learned.classes[learned.rare];
  at("rare").textContent = rare === null ? "" : `Only ${share(rare[1], total)} of the rows are ${rare[0]}: chosen by F1, the model finds more of them, at the price of more false alarms.`;
  at("chosen").hidden = false;
}

const share = (part, total) => `${((100 * part) / total).toFixed(1)}%`;

// A box that says whether a column is used; `names` are those dropped, or those kept, as `drops` says.
function tick(name, checked, names, drops) {
  const box = make("input", { type: "checkbox", checked, "aria-label": `Use ${name}` });
  box.addEventListener("change", act(async () => {
    if (box.checked === drops) names.delete(name);
    else names.add(name);
    if (box.checked === false) state.keep.delete(name);
    await choose();
  }));
  return box;
}

// --- fit ------------------------------------------------------------------------------------------------------------

// The metric's name for the number of classes that there are.
function metric() {
  const chosen = at("metric").selectedOptions[0];
  return state.learned.classes.length > 2 ? chosen.dataset.many ?? chosen.value : chosen.value;
}

async function fit() {
  const made = await work("/api/fit", {
    ...setup(),
    test_size: Number(at("test-size").value),
    time_limit: Number(at("time-limit").value),
    options: { "max-terms": at("max-terms").value, metric: metric(), literals: at("literals").value, points: at("points").value, seed: at("seed").value },
  });
  if (made !== null) added(made);
}

function added(made) {
  state.models.push(made);
  allow("target", "fit", "model", "export", ...(state.models.length > 1 ? ["compare"] : []));
  showModels(made.number);
  go("model");
}

function showModels(chosen) {
  const entries = state.models.map((one) => [one.number, `${one.name}, ${termsOf(one.n_terms)}`]);
  options(at("model"), entries, chosen);
  options(at("export-model"), entries, chosen);
  const parent = model(chosen).parent ?? state.models[0].number;
  options(at("first"), entries, parent);
  options(at("second"), entries, chosen);
}

const model = (number) => state.models.find((one) => one.number === Number(number));
const figure = (one, name) => one.figures.find(([found]) => found === name)?.[1] ?? "–";

// --- the model and its report ---------------------------------------------------------------------------------------

function showModel() {
  const one = model(at("model").value);
  const address = `/models/${one.number}/page`;
  if (at("report").getAttribute("src") !== address) at("report").src = address;
  showShape(one);
  const before = one.before ?? (one.parent === null ? null : model(one.parent)); // what was changed may be of another size
  at("change").textContent = before === null ? one.notes.join(" ") : [
    `${one.name}: accuracy ${figure(one, "accuracy")}, before ${figure(before, "accuracy")};`,
    `log loss ${figure(one, "log loss")}, before ${figure(before, "log loss")};`,
    ...one.figures.filter(([name]) => /^(recall|precision) of /.test(name)).map(([name, value]) => `${name} ${value}, before ${figure(before, name)};`),
    `${termsOf(one.n_terms)}, before ${before.n_terms}.`, ...one.notes,
  ].join(" ");
}

// The terms and features of the size that is set on the report, to be changed.
function showShape(one) {
  const size = sizeOf(one), terms = one.terms[size];
  at("shape-size").textContent = one.sizes.length > 1 ? `The model of ${termsOf(size)}, as set on the report.` : "";
  fillTable(at("terms"), ["Term", "New cut", "Drop"], terms.map((term) => [
    term.text,
    term.cut === null ? "" : make("input", { type: "number", step: "any", value: term.cut, name: "cut", "aria-label": `New cut of ${term.text}` }),
    make("input", { type: "checkbox", name: "drop", value: term.text, "aria-label": `Drop ${term.text}` }),
  ]));
  const features = [...new Set(terms.map((term) => term.feature))];
  at("forbid").replaceChildren(...features.map((name) =>
    make("label", { className: "app-check" }, make("input", { type: "checkbox", value: name }), name)));
}

const sizeOf = (one) => state.set[one.number]?.n_terms ?? one.n_terms;
const termsOf = (number) => (number === 1 ? "1 term" : `${number} terms`);

async function shape(anew) {
  const one = model(at("model").value), terms = one.terms[sizeOf(one)];
  const forbid = [...document.querySelectorAll("#forbid input:checked")].map((box) => box.value);
  const drop = [...document.querySelectorAll("#terms [name=drop]:checked")].map((box) => box.value);
  const inputs = [...document.querySelectorAll("#terms [name=cut]")];
  if (inputs.some((input) => input.value === "")) throw new Error("A new cut has to be a number.");
  const cuts = new Map(terms.filter((term) => term.cut !== null)
    .map((term, i) => [term, Number(inputs[i].value)])
    .filter(([term, cut]) => cut !== term.cut)
    .map(([term, cut]) => [`${term.feature} ${term.cut}`, [term.feature, term.cut, cut]]));
  const made = await work("/api/shape", {
    model: one.number, size: sizeOf(one), forbid, drop, cuts: [...cuts.values()], replaces: at("replaces").checked, anew,
  });
  if (made === null) return;
  toggleShape(false);
  added(made);
}

function toggleShape(shown) {
  at("shape").hidden = !shown;
  at("shape-open").ariaExpanded = String(shown);
}

// What is set on the report is what is exported. The frame has no origin; it is known by its window.
addEventListener("message", (event) => {
  if (event.source !== at("report").contentWindow || typeof event.data !== "object") return;
  const { size = null, threshold = null } = event.data;
  const one = model(at("model").value);
  const n_terms = size === null ? one.n_terms : one.sizes[Number(size)];
  const own = one.thresholds?.[n_terms] ?? null;
  // A slider has three digits: where it stands at the model's own threshold, that is meant, with all its digits.
  const isOwn = threshold === null || own === null || Math.abs(threshold - own) < 0.0006;
  const resized = n_terms !== sizeOf(one);
  state.set[one.number] = { n_terms, threshold: isOwn ? null : threshold };
  if (resized) showShape(one);
});

// --- comparing ------------------------------------------------------------------------------------------------------

async function compare() {
  const pair = [model(at("first").value), model(at("second").value)];
  const found = await work("/api/compare", { models: pair.map((one) => one.number) });
  if (found === null) return;
  const lines = [
    ["terms", ...pair.map((one) => String(one.n_terms))],
    ["features", ...pair.map((one) => one.features.join(", "))],
    ["score by cross-validation", ...pair.map((one) => one.cross_validation ?? "–")],
    ...pair[0].figures.map(([name]) => [name, ...pair.map((one) => figure(one, name))]),
  ];
  const scores = make("table");
  fillTable(scores, ["", ...pair.map((one) => one.name)], lines);
  const parts = [make("h3", {}, `Scores on ${rows(found.n_rows)}`), scroller("Scores", scores), make("h3", {}, "Where they disagree")];
  if (found.n_differ === 0) parts.push(make("p", {}, "They decide every row alike."));
  else {
    const [one, other] = found.n_right;
    parts.push(make("p", {}, `They decide ${rows(found.n_differ)} of ${whole(found.n_rows)} differently (${share(found.n_differ, found.n_rows)}). There the first is right on ${whole(one)}, the second on ${whole(other)}.`));
    const differ = make("table");
    fillTable(differ, ["Row", "True class", "First", "Second", ...found.names], found.rows.map((at) => [String(at.row), at.true, at.first, at.second, ...at.values]));
    parts.push(scroller("Rows that are decided differently", differ));
  }
  parts.push(make("h3", {}, "The models"), make("div", { className: "app-rules" }, ...found.rules.map((text) => make("pre", { tabIndex: 0 }, text))));
  at("comparison").replaceChildren(...parts);
}

const scroller = (name, table) => make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": name }, table);

// --- exports --------------------------------------------------------------------------------------------------------

function showExport() {
  const one = model(at("export-model").value);
  const set = state.set[one.number] ?? { n_terms: one.n_terms, threshold: null };
  options(at("export-size"), one.sizes.map((size) => [size, termsOf(size)]), set.n_terms);
  at("threshold-field").hidden = one.thresholds === null;
  at("export-threshold").value = set.threshold ?? "";
  showOwnThreshold();
  at("command").textContent = one.command;
  at("by-hand").hidden = one.changed.length === 0;
  at("export-notes").textContent = "";
  const files = [
    ["The model", "smallearn, in Python and at a command line", "", save("the model", () => fetchFile("model.json"))],
    ["The report", "one page that needs no network", "", save("the report", () => fetchFile("report.html", {}, false))],
  ];
  fillTable(at("exports"), ["File", "Options", "Download"], [
    ...files.map(([name, text, , button]) => [name, text, button]),
    ...state.exports.map((entry) => exportLine(entry)),
  ]);
}

// Without a number there, the model's own threshold is exported.
function showOwnThreshold() {
  const own = model(at("export-model").value).thresholds?.[at("export-size").value];
  at("export-threshold").placeholder = own === undefined ? "" : `the model's own: ${own}`;
}

function exportLine(entry) {
  if (entry.needs !== null) return [entry.name, `needs ${entry.needs}`, ""];
  const controls = Object.entries(entry.options).map(([name, values]) => {
    const label = `${entry.name}: ${name}`;
    if (!values.length) return make("input", { name, "aria-label": label, placeholder: `${name}: data`, spellcheck: false });
    return make("select", { name, "aria-label": label }, ...values.map((value) => make("option", {}, value)));
  });
  const chosen = () => Object.fromEntries(controls.map((one) => [one.name, one.value]).filter(([, value]) => value !== ""));
  const cell = make("span", {});
  controls.forEach((one) => cell.append(one, " "));
  return [entry.name, cell, save(entry.name, () => fetchFile(`export/${entry.target}`, chosen()))];
}

const save = (name, action) => make("button", { type: "button", className: "app-plain", "aria-label": `Download ${name}`, onclick: act(action) }, "Download");

async function fetchFile(path, more = {}, chosen = true) {
  const one = model(at("export-model").value);
  const query = new URLSearchParams(more);
  if (chosen) {
    query.set("size", at("export-size").value);
    if (one.thresholds !== null && at("export-threshold").value !== "") query.set("threshold", at("export-threshold").value);
  }
  at("export-notes").textContent = "";
  const answer = await ask(`/models/${one.number}/${path}?${query}`);
  const name = /filename="(.*)"/.exec(answer.headers.get("content-disposition"))[1];
  const address = URL.createObjectURL(await answer.blob());
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  at("export-notes").textContent = decodeURIComponent(answer.headers.get("x-smallearn-notes") ?? "") || `Saved ${name}.`;
}

// --- the page opens -------------------------------------------------------------------------------------------------

function connect() {
  for (const button of document.querySelectorAll("[data-step]")) button.addEventListener("click", () => go(button.dataset.step));
  at("cancel").addEventListener("click", act(async () => { if (state.job !== null) await ask(`/api/jobs/${state.job}`, { method: "DELETE" }); }));
  at("file").addEventListener("change", act(() => upload(at("file").files[0])));
  at("reread").addEventListener("click", act(async () => {
    if (state.table === null) throw new Error("Choose a table first.");
    await read(state.table);
  }));
  at("target").addEventListener("change", act(choose));
  at("to-fit").addEventListener("click", () => go("fit"));
  at("fit").addEventListener("click", act(fit));
  at("model").addEventListener("change", showModel);
  at("shape").addEventListener("submit", (event) => { event.preventDefault(); act(() => shape(false))(); });
  at("anew").addEventListener("click", act(() => shape(true)));
  at("shape-open").addEventListener("click", () => toggleShape(at("shape").hidden));
  at("save-report").addEventListener("click", act(() => { at("export-model").value = at("model").value; return fetchFile("report.html", {}, false); }));
  at("to-export").addEventListener("click", () => { at("export-model").value = at("model").value; go("export"); });
  at("compare").addEventListener("click", act(compare));
  at("export-model").addEventListener("change", showExport);
  at("export-size").addEventListener("change", showOwnThreshold);
  for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      at("drop").classList.toggle("over", name === "dragenter" || name === "dragover");
    });
  }
  document.addEventListener("drop", act((event) => upload(event.dataTransfer.files[0])));
}

async function open() {
  history.replaceState(null, "", "/"); // the token need not be seen
  const facts = await (await ask("/api/state")).json();
  state.models = facts.models;
  state.exports = facts.exports;
  at("time-limit").max = facts.limit;
  at("time-limit").value = Math.min(120, facts.limit);
  showTables(facts.tables);
  if (state.models.length) {
    const last = state.models[state.models.length - 1];
    allow("model", "export", ...(state.models.length > 1 ? ["compare"] : []));
    showModels(last.number);
    go("model");
  } else {
    go("table");
  }
  if (facts.job?.state === "running") {
    const made = await follow(facts.job);
    if (facts.job.kind === "fit" && made !== null) added(made);
  } else if (!state.models.length && facts.tables.length === 1) {
    await read(facts.tables[0].number);
  }
}

connect();
act(open)();
