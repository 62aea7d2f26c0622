// Finds the objects in a long text of JSON as it streams by: those on the top level, in a list, or in the lists named `entries` of
// pages. Only the object that is being read is in memory.
import type { Scanner } from './report-file.ts';

/** No entry of a book comes near it. */
const maxCharacters = 64 * 1024;

export function openJsonScanner(): Scanner {
  /** What is open: `{` and `[`. */
  let open = '';
  let isInString = false;
  let isEscaped = false;
  /** The object that is being read, and how deep it lies; undefined between objects. */
  let text: string | undefined;
  let depth = 0;

  /** Of the list named `entries` that is open. */
  let entriesDepth: number | undefined;

  /** Where objects are entries, or pages of them. */
  const isBetween = () => text === undefined && (open === '' || open === '[' || open.length === entriesDepth);

  return {
    push(piece) {
      const found: unknown[] = [];
      let start = 0;
      for (let place = 0; place < piece.length; place++) {
        const character = piece[place] ?? '';
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (character === '\\') isEscaped = true;
          else if (character === '"') isInString = false;
          continue;
        }
        switch (character) {
          case '"':
            isInString = true;
            break;
          case '{':
            if (isBetween()) {
              text = '';
              depth = open.length;
              start = place;
            }
            open += character;
            break;
          case '[':
            open += character;
            if (text === undefined || open.length !== depth + 2) break;
            if (/"entries"\s*:\s*$/.test(text + piece.slice(start, place))) {
              // It is a page: what counts is inside.
              text = undefined;
              entriesDepth = open.length;
            }
            break;
          case '}':
          case ']':
            if (open.at(-1) !== (character === '}' ? '{' : '[')) throw new Error('it is no JSON');
            if (open.length === entriesDepth) entriesDepth = undefined;
            open = open.slice(0, -1);
            if (text !== undefined && open.length === depth) {
              found.push(parsed(text + piece.slice(start, place + 1)));
              text = undefined;
            }
            break;
          default:
        }
        if (isBetween() && !/[\s,{}[\]]/.test(character)) throw new Error('it is no JSON with entries');
      }
      if (text !== undefined) {
        text += piece.slice(start);
        if (text.length > maxCharacters) throw new Error('it has an object that is too large for an entry');
      }
      return found;
    },
    end() {
      if (open !== '') throw new Error('it ends in the middle; was it cut off?');
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
