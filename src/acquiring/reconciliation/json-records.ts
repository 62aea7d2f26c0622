// Reads report records from a JSON stream: objects at the top level, in a list, or in the `entries` of pages.
// Each record leaves the parser's memory when it is complete.
import { JSONParser, type ParsedElementInfo } from '@streamparser/json';
import { openProgressGuard, UnreadableRecord, type RecordReader } from './record-reader.ts';

export function openJsonReader(): RecordReader {
  let found: unknown[] = [];
  let hasProgressed = false;
  const guard = openProgressGuard('an object is too large for an entry');

  // Values follow one another, with or without line breaks between them.
  const parser = new JSONParser({ separator: '' });
  parser.onValue = (element) => {
    if (!isPlaceOfRecord(element)) return;
    const { value, parent, stack } = element;
    hasProgressed = true;
    if (Array.isArray(parent)) parent.pop();
    const isList = parent === undefined && Array.isArray(value);
    const isEntry = stack.some(({ key }) => key === 'entries');
    if (isEntry || (!isList && !isPage(value)))
      found.push(isObject(value) ? value : new UnreadableRecord(notEntries));
  };

  return {
    push(piece) {
      hasProgressed = false;
      try {
        parser.write(piece);
      } catch {
        found.push(new UnreadableRecord('the text is not valid JSON'));
      }
      guard(piece, hasProgressed);
      const records = found;
      found = [];
      return records;
    },
    end() {
      try {
        parser.end();
      } catch {
        throw new Error('the JSON is incomplete; the file may be incomplete too');
      }
      return found;
    },
  };
}

const notEntries = 'the JSON has no entries here';

/** True at the top level, in a list there, and in the entries of a page; pages may be in a list too. */
function isPlaceOfRecord({ key, stack }: ParsedElementInfo): boolean {
  if (stack.length === 0) return true;
  if (typeof key !== 'number') return false;
  const [first, second, ...deeper] = stack.slice(1).map((outer) => outer.key);
  if (first === undefined) return true;
  if (first === 'entries') return second === undefined;
  return typeof first === 'number' && second === 'entries' && deeper.length === 0;
}

function isPage(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['entries']);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
