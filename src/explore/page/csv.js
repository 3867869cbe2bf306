// A CSV file of the user's own, read slice by slice on this machine. Only the names of its columns and the numbers of their distinct values are kept.

const SLICE = 1 << 20;
const MOST_COLUMNS = 200;
const MOST_FIELD = 1_000_000;
/** Of a column with more distinct values only this is known. */
const MOST_DISTINCT = 10_000;

const [START, PLAIN, QUOTED, CLOSED] = [0, 1, 2, 3];
const [NEWLINE, RETURN, QUOTE] = [10, 13, 34];

/** The separators, and their names. */
const SEPARATORS = [[",", "commas"], [";", "semicolons"], ["\t", "tabs"], ["|", "vertical bars"]];

/** Headings of a table of columns: each of its rows is a column and its size. */
const NAMES = ["name", "column", "variable", "attribute"];
const SIZES = ["size", "values", "categories", "number of values"];

/** A text of its own: a part of a long text would keep all of it in memory. */
const copied = (text) => JSON.parse(JSON.stringify(text));

/** The part before the first line break outside of quotes; null if it is not there yet. */
function firstLine(text) {
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) quoted = !quoted;
    else if (!quoted && (code === NEWLINE || code === RETURN)) return text.slice(0, at);
  }
  return null;
}

/** The separator that is most frequent outside of quotes; a comma if there is none. */
function separatorOf(line) {
  const bare = line.replace(/"[^"]*"/g, "");
  const count = ([separator]) => bare.split(separator).length;
  return SEPARATORS.reduce((best, one) => (count(one) > count(best) ? one : best));
}

/** Names of columns from a heading line: none is empty, and all differ. */
function named(heading, notes) {
  const names = [];
  heading.forEach((text, at) => {
    // eslint-disable-next-line no-control-regex
    let name = text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    if (!name) {
      name = `column ${at + 1}`;
      notes.push(`The heading of column ${at + 1} is empty: it is called "${name}" here.`);
    }
    const first = name;
    for (let other = 2; names.includes(name); other += 1) name = `${first} (${other})`;
    if (name !== first) notes.push(`The heading "${first}" is there twice: column ${at + 1} is called "${name}" here.`);
    names.push(name);
  });
  return names;
}

/** Reads text piece by piece. */
class Reader {
  #file;
  #head = "";
  #separator = 0;
  #state = START;
  #afterReturn = false;
  #line = 1;
  #recordLine = 1;
  #field = "";
  #fields = [];
  #index = 0;
  #isQuoted = false;
  #values = null;
  #list = null;
  names = null;
  records = 0;
  notes = [];

  constructor(file) {
    this.#file = file;
  }

  #refuse(line, why) {
    throw new Error(`${this.#file}, line ${line}: ${why}`);
  }

  /** The next piece of the text. */
  push(text) {
    this.#check(text);
    if (this.#separator) {
      this.#scan(text);
      return;
    }
    this.#head += text;
    // Blank lines before it are no heading.
    const line = firstLine(this.#head.replace(/^[\r\n]+/, ""));
    if (line === null && this.#head.length > MOST_FIELD) this.#refuse(1, "the first line is longer than a million characters: is this a CSV file?");
    if (line !== null) this.#begin(line);
  }

  #begin(line) {
    const [separator, name] = separatorOf(line);
    this.#separator = separator.charCodeAt(0);
    this.separatedBy = name;
    const head = this.#head;
    this.#head = "";
    this.#scan(head);
  }

  #check(text) {
    const bad = text.search(/[\0\ufffd]/);
    if (bad < 0) return;
    const before = (this.#head + text.slice(0, bad)).split(/\r\n|\n|\r/).length - 1;
    this.#refuse(this.#line + before, "this is no text in UTF-8: save the table as CSV, with the encoding UTF-8");
  }

  #scan(text) {
    let [state, afterReturn, line, from] = [this.#state, this.#afterReturn, this.#line, 0];
    const separator = this.#separator;
    const take = (to) => {
      if (to > from) this.#field += text.slice(from, to);
      if (this.#field.length > MOST_FIELD) this.#refuse(this.#recordLine, "a field is longer than a million characters: is a quotation mark missing?");
    };
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const isBreak = code === NEWLINE || code === RETURN;
      const isSecond = code === NEWLINE && afterReturn;
      if (isBreak && !isSecond) line += 1;
      afterReturn = code === RETURN;
      if (state === QUOTED) {
        if (code === QUOTE) {
          take(at);
          from = at + 1;
          state = CLOSED;
        }
      } else if (code === separator || isBreak) {
        if (isSecond) {
          // The second half of a line break.
          from = at + 1;
          continue;
        }
        if (state !== CLOSED) take(at);
        this.#endField();
        if (isBreak) this.#endRecord(line);
        from = at + 1;
        state = START;
      } else if (code === QUOTE && state === START) {
        from = at + 1;
        this.#isQuoted = true;
        state = QUOTED;
      } else if (state === CLOSED) {
        if (code !== QUOTE) this.#refuse(line, "there is text after a closing quotation mark: expected a separator, or the mark twice");
        // A mark that is written twice is one of the text.
        from = at;
        state = QUOTED;
      } else {
        state = PLAIN;
      }
    }
    if (state !== CLOSED) take(text.length);
    [this.#state, this.#afterReturn, this.#line] = [state, afterReturn, line];
  }

  #endField() {
    const text = this.#field;
    this.#field = "";
    if (this.names === null || this.#list !== null) {
      if (this.#fields.length >= MOST_COLUMNS) this.#refuse(this.#recordLine, `there are more than ${MOST_COLUMNS} columns, which this page does not show`);
      this.#fields.push(text);
    } else {
      const values = this.#values[this.#index];
      // The first field of a blank line is no value.
      if (this.#index === 0) this.#first = text;
      else if (values && !values.has(text)) this.#add(this.#index, text);
    }
    this.#index += 1;
  }

  #first = "";

  #add(index, text) {
    const values = this.#values[index];
    values.add(copied(text));
    if (values.size > MOST_DISTINCT) this.#values[index] = null;
  }

  #endRecord(nextLine) {
    const [count, line] = [this.#index, this.#recordLine];
    const isBlank = count === 1 && !this.#isQuoted && (this.names === null || this.#list !== null ? this.#fields[0] : this.#first).trim() === "";
    this.#index = 0;
    this.#isQuoted = false;
    this.#recordLine = nextLine;
    const fields = this.#fields;
    this.#fields = [];
    if (isBlank) return;
    if (this.names === null) {
      this.names = named(fields, this.notes);
      this.#values = fields.map(() => new Set());
      const [name, size] = fields.map((field) => field.trim().toLowerCase());
      if (fields.length === 2 && NAMES.includes(name) && SIZES.includes(size)) this.#list = [];
      else if (fields.every((field) => field.trim() !== "" && Number.isFinite(Number(field)))) this.notes.push("The first line has numbers only: it is taken as the names of the columns. Is a heading line missing?");
      return;
    }
    if (count !== this.names.length) {
      const fieldsOf = (number) => (number === 1 ? "1 field" : `${number} fields`);
      this.#refuse(line, `it has ${fieldsOf(count)}, and the first line has ${this.names.length}: every line needs as many`);
    }
    this.records += 1;
    if (this.#list !== null) {
      this.#listed(fields, line);
      return;
    }
    const values = this.#values[0];
    if (values && !values.has(this.#first)) this.#add(0, this.#first);
  }

  #listed([name, size], line) {
    if (!/^[1-9][0-9]{0,14}$/.test(size.trim())) this.#refuse(line, `the size of ${JSON.stringify(name)} is ${JSON.stringify(size)}: expected a whole number, 1 or more`);
    if (this.#list.length >= MOST_COLUMNS) this.#refuse(line, `there are more than ${MOST_COLUMNS} columns, which this page does not show`);
    this.#list.push([name, size.trim()]);
  }

  /** The columns, after the last piece. */
  end() {
    if (!this.#separator) {
      if (this.#head.trim() === "") throw new Error(`${this.#file} is empty: expected a first line with the names of the columns`);
      this.#begin(this.#head);
    }
    if (this.#state === QUOTED) this.#refuse(this.#recordLine, "a quotation mark that opens in this record is never closed");
    if (this.#index > 0 || this.#field !== "" || this.#isQuoted) {
      this.#endField();
      this.#endRecord(this.#line);
    }
    if (this.names === null) throw new Error(`${this.#file} has blank lines only: expected a first line with the names of the columns`);
    const { records, notes, separatedBy } = this;
    if (this.#list !== null) {
      const names = named(this.#list.map(([name]) => name), notes);
      const columns = names.map((name, at) => ({ name, size: Number(this.#list[at][1]), isMore: false }));
      return { isList: true, records, notes, separatedBy, columns };
    }
    const columns = this.names.map((name, at) => ({ name, size: this.#values[at]?.size ?? MOST_DISTINCT, isMore: this.#values[at] === null }));
    return { isList: false, records, notes, separatedBy, columns };
  }
}

/** The columns of a file: `progress(share)` is called after each slice; `signal` cancels. */
export async function readCsv(file, { progress, signal }) {
  const reader = new Reader(file.name);
  const decoder = new TextDecoder("utf-8");
  for (let from = 0; from < file.size; from += SLICE) {
    const piece = await file.slice(from, from + SLICE).arrayBuffer();
    signal.throwIfAborted();
    reader.push(decoder.decode(piece, { stream: true }));
    progress(Math.min(1, (from + SLICE) / file.size));
  }
  reader.push(decoder.decode());
  return reader.end();
}
