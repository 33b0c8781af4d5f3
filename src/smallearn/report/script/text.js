// Numbers and names as text, as the rest of the page writes them.
const at = (id) => document.getElementById(id);

const shortNumber = (value) => {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(+value.toPrecision(4));
  return text.replaceAll("-", "−");
};
const signed = (value) => (value > 0 ? "+" : "") + shortNumber(value);
const plain = (value) => String(value).replace("-", "−");

// A share of whole numbers in percent, halves rounded up; never 0% or 100% unless it is.
function percentOf(part, whole) {
  if (whole === 0) return "–";
  const tenths = Math.floor((2000 * part + whole) / (2 * whole));
  if (tenths === 0 && part > 0) return "<0.1%";
  if (tenths === 1000 && part < whole) return ">99.9%";
  return `${Math.floor(tenths / 10)}.${tenths % 10}%`;
}

function ofHundred(part, whole) {
  if (whole < 100) return `${part} of ${whole}`;
  const rounded = Math.floor((200 * part + whole) / (2 * whole));
  if (rounded === 0 && part > 0) return "fewer than 1 of 100";
  if (rounded === 100 && part < whole) return "more than 99 of 100";
  return `${rounded} of 100`;
}

const listed = (parts) => [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter(Boolean).join(" and ");

function chanceText(chance) {
  if (chance >= 0.9995 && chance < 1) return ">99.9%";
  if (chance > 0 && chance < 0.0005) return "<0.1%";
  return `${(100 * chance).toFixed(1)}%`;
}

// Text in which long names may wrap: after "_", and within long runs of letters.
const BREAKS = /(_+|[^\s_]{10}(?=[^\s_]{9}))/u;
function write(element, text) {
  const parts = String(text).split(BREAKS);
  element.replaceChildren(...parts.flatMap((part, i) => (i % 2 ? [part, document.createElement("wbr")] : [part])));
}

function made(name, text, kind = "") {
  const element = document.createElement(name);
  write(element, text);
  if (kind) element.className = kind;
  return element;
}

function headed(text) {
  const head = made("th", text);
  head.scope = "row";
  return head;
}
