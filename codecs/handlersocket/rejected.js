/**
 * The ways to read HandlerSocket's replies that our parser was chosen over, kept so that the choice
 * can be judged again on a new V8. Complete decoders all of them: NULL, escapes, UTF-8, Buffers,
 * replies cut anywhere.
 */

import { ReplyParser } from '../../storages/handlersocket/parser.js';
import {
  ARE_BYTES,
  decodeField,
  keepsBytes,
  rowsDecoder,
} from '../../storages/handlersocket/reply.js';
import {
  fieldOfBytes,
  flagsOf,
  JoinedLines,
  RowBuilder,
  rowsOfTokens,
  WholeLines,
} from './lines.js';

/** @typedef {import('../definition.js').Decoder} Decoder */
/** @typedef {import('../fixtures.js').Shape} Shape */
/** @typedef {(shape: Shape, emit: (reply: any) => void) => Decoder} CreateDecoder */

const TAB = 9;
const LINE_FEED = 10;

/** Our parser without its way for small chunks. */
class WithoutSmallPath extends ReplyParser {
  /** @override */
  advanceSmall() {
    return false;
  }
}

/** Our parser that decodes UTF-8 without asking first whether all is ASCII. */
class AlwaysUtf8 extends ReplyParser {
  /** @param {Buffer} bytes @override */
  cutLines(bytes) {
    const flags = flagsOf(bytes);
    if (this.keepBytes) this.giveLines(bytes.toString('latin1'), flags | ARE_BYTES);
    else this.giveLines(bytes.toString('utf8'), flags);
  }
}

/**
 * @param {typeof ReplyParser} Parser
 * @returns {CreateDecoder} rows by our reader, of that parser's texts
 */
export function withParser(Parser) {
  return ({ types }, emit) => {
    const read = rowsDecoder(types);
    const parser = new Parser((text, start, end, flags) => emit(read(text, start, end, flags)));
    parser.keepBytes = types.some(keepsBytes);
    return { write: (chunk) => parser.push(chunk) };
  };
}

/**
 * @param {(lines: Buffer, keepBytes: boolean) => { text: string, flags: number }} decode
 * @param {new () => WholeLines | JoinedLines} [Lines]
 * @returns {CreateDecoder} one string of all whole lines, split at line feeds, then at tabs
 */
function splitter(decode, Lines = WholeLines) {
  return ({ types }, emit) => {
    const lines = new Lines();
    const keepBytes = types.some(keepsBytes);
    return {
      write(chunk) {
        const whole = lines.take(chunk);
        if (whole === null) return;
        const { text, flags } = decode(whole, keepBytes);
        const replies = text.split('\n');
        for (let i = 0; i < replies.length - 1; i += 1) {
          emit(rowsOfTokens(replies[i].split('\t'), types, flags));
        }
      },
    };
  };
}

/** @param {Buffer} lines @param {boolean} keepBytes */
function decodeAsNeeded(lines, keepBytes) {
  const flags = flagsOf(lines);
  if (!keepBytes) return { text: lines.toString('utf8'), flags };
  return { text: lines.toString('latin1'), flags: flags | ARE_BYTES };
}

/** @param {Buffer} lines */
function decodeLatin1(lines) {
  return { text: lines.toString('latin1'), flags: flagsOf(lines) | ARE_BYTES };
}

/** @type {CreateDecoder} a string for each reply: one call into C++ for each */
const lineByLine = ({ types }, emit) => {
  const lines = new WholeLines();
  const encoding = types.some(keepsBytes) ? 'latin1' : 'utf8';
  const bytesFlag = encoding === 'latin1' ? ARE_BYTES : 0;
  return {
    write(chunk) {
      const whole = lines.take(chunk);
      if (whole === null) return;
      const flags = flagsOf(whole) | bytesFlag;
      for (let start = 0; start < whole.length; ) {
        const end = whole.indexOf(LINE_FEED, start);
        emit(rowsOfTokens(whole.toString(encoding, start, end).split('\t'), types, flags));
        start = end + 1;
      }
    },
  };
};

/** @type {CreateDecoder} Buffer.indexOf for each tab, toString for each cell */
const indexOfTab = ({ types }, emit) => {
  const lines = new WholeLines();
  const builder = new RowBuilder(types.length, emit);
  return {
    write(chunk) {
      const whole = lines.take(chunk);
      if (whole === null) return;
      for (let start = 0; start < whole.length; ) {
        const end = whole.indexOf(LINE_FEED, start);
        while (start <= end) {
          const tab = whole.indexOf(TAB, start);
          const stop = tab < 0 || tab > end ? end : tab;
          const { column } = builder;
          builder.cell(column < 0 ? null : fieldOfBytes(whole, start, stop, types[column]));
          start = stop + 1;
        }
        builder.end();
      }
    },
  };
};

/** @type {CreateDecoder} each byte looked at in JavaScript, toString for each cell */
const byteLoop = ({ types }, emit) => {
  const lines = new WholeLines();
  const builder = new RowBuilder(types.length, emit);
  return {
    write(chunk) {
      const whole = lines.take(chunk);
      if (whole === null) return;
      let start = 0;
      for (let at = 0; at < whole.length; at += 1) {
        const byte = whole[at];
        if (byte !== TAB && byte !== LINE_FEED) continue;
        const { column } = builder;
        builder.cell(column < 0 ? null : fieldOfBytes(whole, start, at, types[column]));
        start = at + 1;
        if (byte === LINE_FEED) builder.end();
      }
    },
  };
};

/** @type {CreateDecoder} each character of the one string looked at in JavaScript */
const charLoop = ({ types }, emit) => {
  const lines = new WholeLines();
  const builder = new RowBuilder(types.length, emit);
  const keepBytes = types.some(keepsBytes);
  return {
    write(chunk) {
      const whole = lines.take(chunk);
      if (whole === null) return;
      const { text, flags } = decodeAsNeeded(whole, keepBytes);
      let start = 0;
      for (let at = 0; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit !== TAB && unit !== LINE_FEED) continue;
        const { column } = builder;
        builder.cell(column < 0 ? null : decodeField(text.slice(start, at), types[column], flags));
        start = at + 1;
        if (unit === LINE_FEED) builder.end();
      }
    },
  };
};

/** @type {CreateDecoder} a Buffer over each cell, and strings of these */
const subarrays = ({ types }, emit) => {
  const lines = new WholeLines();
  return {
    write(chunk) {
      const whole = lines.take(chunk);
      if (whole === null) return;
      for (let start = 0; start < whole.length; ) {
        const end = whole.indexOf(LINE_FEED, start);
        emit(rowsOfCells(cellsOf(whole.subarray(start, end)), types));
        start = end + 1;
      }
    },
  };
};

/** @param {Buffer} line @returns {Buffer[]} */
function cellsOf(line) {
  const cells = [];
  for (let start = 0; start <= line.length; ) {
    const tab = line.indexOf(TAB, start);
    const stop = tab < 0 ? line.length : tab;
    cells.push(line.subarray(start, stop));
    start = stop + 1;
  }
  return cells;
}

/** @param {Buffer[]} cells @param {Shape['types']} types */
function rowsOfCells(cells, types) {
  const rows = [];
  for (let at = 2; at < cells.length; at += types.length) {
    rows.push(types.map((type, i) => fieldOfBytes(cells[at + i], 0, cells[at + i].length, type)));
  }
  return rows;
}

/** @type {Record<string, { summary: string, createDecoder: CreateDecoder }>} */
export const REJECTED = {
  'hs-no-small': {
    summary: 'ours without its way for chunks of up to 256 bytes',
    createDecoder: withParser(WithoutSmallPath),
  },
  'hs-always-utf8': {
    summary: 'ours, but UTF-8 is decoded without asking whether all is ASCII',
    createDecoder: withParser(AlwaysUtf8),
  },
  'hs-split': {
    summary: 'one string a chunk, split at line feeds, then at tabs',
    createDecoder: splitter(decodeAsNeeded),
  },
  'hs-latin1-split': {
    summary: 'the same in latin1; cells that are not ASCII are decoded again',
    createDecoder: splitter(decodeLatin1),
  },
  'hs-concat': {
    summary: 'the same as hs-split, what is left over joined with each chunk by Buffer.concat',
    createDecoder: splitter(decodeAsNeeded, JoinedLines),
  },
  'hs-line-by-line': {
    summary: 'one string a reply, split at tabs',
    createDecoder: lineByLine,
  },
  'hs-char-loop': {
    summary: 'one string a chunk, looked at character by character',
    createDecoder: charLoop,
  },
  'hs-byte-loop': {
    summary: 'bytes looked at one by one, toString for each cell',
    createDecoder: byteLoop,
  },
  'hs-index-of': {
    summary: 'Buffer.indexOf for each tab, toString for each cell',
    createDecoder: indexOfTab,
  },
  'hs-subarray': {
    summary: 'a Buffer over each cell, and a string of that',
    createDecoder: subarrays,
  },
};
