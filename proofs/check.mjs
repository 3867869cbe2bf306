#!/usr/bin/env node
// The checker of check.html without a browser: node proofs/check.mjs [--json] FILE... It has no code of its own for a check: it runs the script "checker" of the page.
// Exit status: 0 everything is proven, 1 something is refused or cannot be read, 2 wrong arguments.

import { openSync, readFileSync, readSync, closeSync } from "node:fs";
import { createInterface } from "node:readline";
import { runInNewContext } from "node:vm";

const USAGE = `usage: node check.mjs [--json] [--page PAGE] FILE...
       node check.mjs --lines [--most-work MICROSECONDS] [--page PAGE]

Proves certificates of \`assay prove\` with the script of check.html. A FILE may also be statement.txt of a memo, which its certificates bear.

  --json         one JSON object for each file, one a line, as check.py prints it
  --page PAGE    another page than the check.html beside this file
  --lines        reads certificates in base64 from standard input, one a line, and answers each with a line of JSON with the bounds of all statements
  --most-work N  refuses checks of more predicted microseconds

exit status: 0 everything is proven, 1 something is refused or cannot be read, 2 wrong arguments`;

const visible = text => text.replace(/(?! )[\p{C}\p{Z}]/gu, one => `\\u{${one.codePointAt(0).toString(16)}}`); // a name or a label fakes no line
function wrong(text) {
  console.error(`${visible(text)}\n${USAGE}`);
  process.exit(2);
}
function options(given) {
  const found = { files: [], page: new URL("check.html", import.meta.url) };
  for (const rest = [...given]; rest.length; ) {
    const one = rest.shift();
    if (one === "--help" || one === "-h") { console.log(USAGE); process.exit(0); }
    else if (one === "--json" || one === "--lines") found[one.slice(2)] = true;
    else if (one === "--page") found.page = rest.shift() ?? wrong("--page needs a file");
    else if (one === "--most-work") {
      found.mostWork = Number(rest.shift());
      if (!(found.mostWork > 0)) wrong("--most-work is a number above 0");
    } else if (one.startsWith("--")) wrong(`there is no ${one}`);
    else found.files.push(one);
  }
  if (found.lines ? found.files.length : !found.files.length) wrong(found.lines ? "--lines reads standard input, and no file" : "a FILE is missing");
  return found;
}
function checker(page) {
  const script = /<script id="checker">([\s\S]*?)<\/script>/.exec(readFileSync(page, "utf8"));
  if (!script) wrong(`${page} has no script "checker"`);
  return runInNewContext(`${script[1]}\n({ checkCertificate, checkStatement, inFile, isStatement, most: LIMITS.bytes })`, { TextDecoder, TextEncoder });
}
function bytesOf(file, most) { // at most one byte more than a certificate may have
  const bytes = new Uint8Array(most + 1), opened = openSync(file);
  try {
    let size = 0;
    for (let more = -1; more && size < bytes.length; size += more) more = readSync(opened, bytes, size, bytes.length - size);
    return bytes.subarray(0, size);
  } finally {
    closeSync(opened);
  }
}
function checkedFile(file, { checkCertificate, checkStatement, inFile, isStatement, most }, answers) {
  let bytes;
  try {
    bytes = bytesOf(file, most);
  } catch (error) {
    return { file, verdict: "unreadable", reason: error.message, statements: [] };
  }
  return inFile(file, isStatement(file) ? checkStatement(bytes, answers) : checkCertificate(bytes));
}
function inWords({ file, verdict, reason, statements, described = [], labels }) {
  if (reason) return [`${file}: REFUSED`, `${verdict === "unreadable" ? "cannot be read" : "does not hold"}: ${reason}`];
  if (!labels) return [`${file}: proven`, ...statements];
  const said = Object.entries(labels).filter(([, text]) => text !== null).map(([name, text]) => `  ${name}: ${text}`);
  return [`${file}: proven`, ...statements, ...described, "labels, of which nothing is proven:", ...said];
}

process.stdout.on("error", () => process.exit(1)); // a reader who leaves
const given = options(process.argv.slice(2)), code = checker(given.page);
if (given.lines) {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(code.checkCertificate(new Uint8Array(Buffer.from(line, "base64")), { bounds: true, mostWork: given.mostWork })));
  }
} else {
  const answers = [], last = given.files.filter(code.isStatement); // a Statement after the certificates that bear it
  for (const file of [...given.files.filter(file => !code.isStatement(file)), ...last]) {
    const answer = checkedFile(file, code, answers);
    answers.push(answer);
    if (answer.verdict !== "proven") process.exitCode = 1;
    console.log(given.json ? JSON.stringify(answer) : inWords(answer).map(visible).join("\n  "));
  }
}
