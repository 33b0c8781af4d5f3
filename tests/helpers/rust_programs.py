"""Many Rust exports compiled into one program, and run on rows: what the tests of Rust share."""

import re
import subprocess

from tests.helpers.tools import need

# Each line of input is the number of a module and the cells of a row: `m`, `n` and the bits of a number, `t` and UTF-8.
FLOATS = """
use std::io::BufRead;

fn text_of(cell: &str) -> String {
    let bytes: Vec<u8> = (1..cell.len()).step_by(2).map(|i| u8::from_str_radix(&cell[i..i + 2], 16).unwrap()).collect();
    String::from_utf8(bytes).unwrap()
}

fn number_of(cell: &str) -> f64 {
    if cell == "m" { f64::NAN } else { f64::from_bits(u64::from_str_radix(&cell[1..], 16).unwrap()) }
}

fn bits(numbers: &[f64]) -> String {
    numbers.iter().map(|z| format!("{:016x}", z.to_bits())).collect::<Vec<_>>().join(",")
}

macro_rules! answer {
    ($m:ident, $x:expr) => {
        match $m::predict($x) {
            None => {
                assert!($m::scores($x).is_none() && $m::decision($x).is_none() && $m::reason($x).is_none());
                println!("none");
            }
            Some(label) => {
                let reason = $m::reason($x).unwrap();
                let z = $m::scores($x).unwrap();
                assert!(reason.class == label && reason.score == z[reason.prototype]);
                assert!(reason.intercept == $m::INTERCEPTS[reason.prototype]);
                let parts: Vec<f64> = reason.terms().map(|(_, _, part)| part).collect();
                let odds = $m::decision($x).map(|odds| bits(&[odds].concat_all())).unwrap_or("none".to_string());
                let chances = $m::probabilities($x).map(|all| bits(&all)).unwrap_or("none".to_string());
                println!("{};{};{};{};{};{}", label, bits(&z), odds, reason.prototype, bits(&parts), chances);
            }
        }
    };
}

trait ConcatAll {
    fn concat_all(&self) -> Vec<f64>;
}
impl ConcatAll for [f64; 1] {
    fn concat_all(&self) -> Vec<f64> { self.to_vec() }
}
impl<const N: usize> ConcatAll for [[f64; N]; 1] {
    fn concat_all(&self) -> Vec<f64> { self[0].to_vec() }
}

macro_rules! numbers {
    ($m:ident, $cells:expr) => {{
        let mut x = [0.0; $m::INPUTS];
        for (i, cell) in $cells.iter().enumerate() { x[i] = number_of(cell); }
        answer!($m, &x);
    }};
}

macro_rules! values {
    ($m:ident, $cells:expr) => {{
        let texts: Vec<String> =
            $cells.iter().map(|cell| if cell.starts_with("t") { text_of(cell) } else { String::new() }).collect();
        let mut x = [$m::Value::Missing; $m::INPUTS];
        for (i, cell) in $cells.iter().enumerate() {
            if cell.starts_with("n") { x[i] = $m::Value::Number(number_of(cell)); }
            if cell.starts_with("t") { x[i] = $m::Value::Text(&texts[i]); }
        }
        answer!($m, &x);
    }};
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let mut cells = line.split(' ');
        let module = cells.next().unwrap();
        let cells: Vec<&str> = cells.collect();
        match module {
            // MODULES
            _ => panic!(),
        }
    }
}
"""
# The same for modules in f32.
FLOATS32 = FLOATS.replace("f64", "f32").replace("u64", "u32").replace("{:016x}", "{:08x}")
# Each line of input is the number of a module and whole numbers, or `f` and the bits of floats.
WHOLE = """
use std::io::BufRead;

fn joined<T: std::fmt::Display>(numbers: &[T]) -> String {
    numbers.iter().map(|z| z.to_string()).collect::<Vec<_>>().join(",")
}

fn float_of(cell: &str) -> f32 {
    f32::from_bits(u32::from_str_radix(cell, 16).unwrap())
}

macro_rules! whole {
    ($m:ident, $cells:expr) => {{
        let mut x: $m::Row = [0; $m::INPUTS];
        for (i, cell) in $cells.iter().enumerate() { x[i] = cell.parse::<i64>().unwrap() as $m::Code; }
        let (label, z, reason) = ($m::predict(&x), $m::scores(&x), $m::reason(&x));
        assert!(reason.class == label && reason.score == z[reason.prototype]);
        assert!(reason.intercept == $m::INTERCEPTS[reason.prototype]);
        let parts: Vec<_> = reason.terms().map(|(_, _, part)| part).collect();
        assert!(parts == reason.contributions[..parts.len()]);
        let chances = joined(&$m::probabilities(&x));
        println!("{};{};{};{};{}", label, joined(&z), reason.prototype, joined(&reason.contributions), chances);
    }};
}

macro_rules! readings {
    ($m:ident, $cells:expr) => {{
        let mut x: $m::Readings = [0.0; $m::INPUTS];
        for (i, cell) in $cells.iter().enumerate() { x[i] = float_of(cell); }
        match $m::codes(&x) {
            None => {
                assert!($m::predict_readings(&x).is_none());
                println!("none");
            }
            Some(codes) => {
                assert!($m::predict_readings(&x) == Some($m::predict(&codes)));
                println!("{}", joined(&codes));
            }
        }
    }};
}

macro_rules! codes {
    ($function:expr, $cells:expr) => {{
        let codes = $cells.iter().map(|cell| $function(float_of(cell)));
        let texts: Vec<_> = codes.map(|code| code.map_or("none".to_string(), |c| c.to_string())).collect();
        println!("{}", joined(&texts));
    }};
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let mut cells = line.split(' ');
        let module = cells.next().unwrap();
        let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        match module {
            // MODULES
            _ => panic!(),
        }
    }
}
"""


def compiled(folder, source, *options):
    """The path of what rustc makes of ``source``, which may name modules in the folder."""
    (folder / "main.rs").write_text(source, encoding="ascii")
    command = [need("rustc"), "--edition", "2021", *options, "-o", "program", "main.rs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return folder / "program"


def answers(folder, main, texts, rows, arm):
    """Compile the modules into one program, with overflow checks, and give it rows: a module's position and its cells.

    ``arm`` has, of a module's position and text, the arm of the program's ``match`` that answers to a row.
    """
    for i, text in enumerate(texts):
        (folder / f"m{i}.rs").write_text(text, encoding="ascii")
    modules = "\n".join(f"mod m{i};" for i in range(len(texts)))
    arms = "\n            ".join(arm(i, text) for i, text in enumerate(texts))
    program = compiled(folder, modules + main.replace("// MODULES", arms), "-C", "overflow-checks=on")
    lines = "".join(" ".join([str(i), *cells]) + "\n" for i, cells in rows)
    done = subprocess.run([program], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout.splitlines()


def floats_arm(i, text):
    """The arm of a module in floats."""
    return f'"{i}" => {"values" if "pub enum Value<" in text else "numbers"}!(m{i}, cells),'


def whole_arm(i, text):
    """The arms of a module in whole numbers: rows of codes, rows of floats (``f``), floats of one input (``x``)."""
    arms = [f'"{i}" => whole!(m{i}, cells),']
    if "pub fn predict_readings" in text:
        arms.append(f'"f{i}" => readings!(m{i}, cells),')
    names = re.findall(r"^pub fn code_(\w+)\(", text, flags=re.MULTILINE)
    arms += [f'"x{i}_{name}" => codes!(m{i}::code_{name}, cells),' for name in names]
    return "\n            ".join(arms)
