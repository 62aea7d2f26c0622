// How a value of the program is stored in a column, declared once for writing and reading. Reading another type fails with its place but
// not its content; undeclared members pass, because a newer node may write them.
import { isInstant, type Instant } from '../../clock.ts';
import { livemodeOf, modeName } from '../../livemode.ts';
import { isKnownCurrency, type Currency, type Money } from '../../money.ts';

export type Codec<T> = {
  /** Never changes its argument. */
  readonly read: (stored: unknown) => T;
  /** Undefined if the value is stored as it is. */
  readonly write: ((value: T) => unknown) | undefined;
  /** If every value of this type of JavaScript is read as it is, and no other. */
  readonly type?: 'string' | 'boolean';
};
/** A codec for objects of several kinds. */
export type VariantsCodec<T> = Codec<T> & {
  /** The objects whose kinds this program knows. During an upgrade, a newer node may write other kinds. */
  readonly known: (stored: readonly unknown[]) => T[];
};
type OptionalCodec<T> = Codec<T> & { readonly isOptional: true };

/** A codec for each member, an optional one for a member that may be missing. */
export type Members<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K>
    ? OptionalCodec<Exclude<T[K], undefined>>
    : Codec<T[K]> & { readonly isOptional?: never };
};

export class UnreadableError extends Error {
  readonly path: string;
  readonly problem: string;
  constructor(path: string, problem: string) {
    super(`The stored value${path === '' ? '' : ` at ${path}`} ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

function unreadable(expected: string, stored: unknown): UnreadableError {
  const found = stored === null ? 'null' : Array.isArray(stored) ? 'list' : typeof stored;
  return new UnreadableError('', `should be ${expected}, and is ${found === expected ? 'another' : found}`);
}

/** The error with this place added to its path, from the inside out. */
function at(place: string | number, error: unknown): unknown {
  if (!(error instanceof UnreadableError)) return error;
  return new UnreadableError(
    `${typeof place === 'number' ? `[${place}]` : `.${place}`}${error.path}`,
    error.problem,
  );
}

function readAt<T>(place: string, read: (stored: unknown) => T, stored: unknown): T {
  try {
    return read(stored);
  } catch (error) {
    throw at(place, error);
  }
}

function checked<T>(expected: string, is: (stored: unknown) => boolean): Codec<T> {
  return {
    read(stored) {
      if (!is(stored)) throw unreadable(expected, stored);
      return stored as T;
    },
    write: undefined,
  };
}

function ofType<T>(type: 'string' | 'boolean'): Codec<T> {
  return { ...checked<T>(type, (stored) => typeof stored === type), type };
}

export const text = ofType<string>('string');
export const flag = ofType<boolean>('boolean');
export const wholeNumber: Codec<number> = checked('exact whole number', Number.isSafeInteger);
/** A number that only identifies something, of any size. */
export const roughNumber: Codec<number> = checked('whole number', Number.isInteger);
export const instant: Codec<Instant> = checked('instant', isInstant);
export const currency: Codec<Currency> = checked(
  'currency',
  (stored) => typeof stored === 'string' && isKnownCurrency(stored),
);
/** For data that merchants store for their own use. */
export const anything: Codec<unknown> = checked('anything', () => true);
export const anyObject: Codec<object> = checked('object', isObject);

export function oneOf<const T extends string | number | boolean>(...values: readonly T[]): Codec<T> {
  const known = new Set<unknown>(values);
  return checked(`one of ${values.join(', ')}`, (stored) => known.has(stored));
}

/** A count of minor units as a JSON integer: the largest amount is far below 2^53. */
export const minorUnits: Codec<bigint> = {
  read: (stored) => BigInt(wholeNumber.read(stored)),
  write: Number,
};

export const money: Codec<Money> = object({ minor: minorUnits, currency });

/** The value in its stored form. */
export function written<T>({ write }: Codec<T>, value: T): unknown {
  return write ? write(value) : value;
}

/** A member that may be missing. */
export function optional<T>(codec: Codec<T>): OptionalCodec<T> {
  return { ...codec, isOptional: true };
}

export function orNull<T>(codec: Codec<T>): Codec<T | null> {
  const { read, write } = codec;
  return {
    read: (stored) => (stored === null ? null : read(stored)),
    write: write && ((value) => (value === null ? null : write(value))),
  };
}

export function list<T>({ read, write }: Codec<T>): Codec<readonly T[]> {
  return {
    read(stored) {
      if (!Array.isArray(stored)) throw unreadable('list', stored);
      const given = stored as T[];
      let taken: T[] | undefined;
      let place = 0;
      try {
        for (; place < given.length; place++) {
          const known = read(given[place]);
          if (known !== given[place]) (taken ??= [...given])[place] = known;
        }
      } catch (error) {
        throw at(place, error);
      }
      return taken ?? given;
    },
    write: write && ((values) => values.map(write)),
  };
}

/** Skips entries of kinds this program does not know. */
export function listOfKnown<T>(entry: VariantsCodec<T>): Codec<readonly T[]> {
  const all = list(anything);
  return { read: (stored) => entry.known(all.read(stored)), write: list(entry).write };
}

export function notEmpty<T>({ read, write }: Codec<readonly T[]>): Codec<readonly [T, ...T[]]> {
  return {
    read(stored) {
      const entries = read(stored);
      if (entries.length === 0) throw unreadable('list of at least one', stored);
      return entries as readonly [T, ...T[]];
    },
    write,
  };
}

/** An object with members of any name. */
export function recordOf<T>({ read, write }: Codec<T>): Codec<Readonly<Record<string, T>>> {
  return {
    read: (stored) =>
      Object.fromEntries(
        Object.entries(objectOf(stored)).map(([name, value]) => [name, readAt(name, read, value)]),
      ),
    write:
      write &&
      ((values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)]))),
  };
}

/** A member that is stored under another name. */
export function storedAs<T>(name: string, codec: Codec<T>): Codec<T> & { readonly name: string } {
  return { ...codec, name };
}

export function object<T extends object>(members: NoInfer<Members<T>>): Codec<T> {
  const codecs = Object.entries<Codec<unknown>>(members as Record<string, Codec<unknown>>).map(
    ([member, codec]) => ({
      member,
      name: 'name' in codec ? (codec.name as string) : member,
      read: codec.read,
      write: codec.write,
      /** A value of this type is read as it is, without a call. */
      type: typeof codec.type === 'string' ? codec.type : '',
      isOptional: 'isOptional' in codec,
    }),
  );
  const isRenamed = codecs.some(({ member, name }) => name !== member);
  const byName = new Map(codecs.map((codec) => [codec.name, codec]));
  // Copies member by member, because an object with a deleted member is slow to read.
  const renamed = (given: Record<string, unknown>) => {
    const taken: Record<string, unknown> = {};
    for (const name of Object.keys(given)) taken[byName.get(name)?.member ?? name] = given[name];
    return taken;
  };
  return {
    read(stored) {
      const given = objectOf(stored);
      let taken = isRenamed ? renamed(given) : undefined;
      let place = '';
      try {
        for (const { member, name, read, type, isOptional } of codecs) {
          const value = given[name];
          if (typeof value === type || (value === undefined && isOptional)) continue;
          place = name;
          const known = read(value);
          if (known !== value) (taken ??= { ...given })[member] = known;
        }
      } catch (error) {
        throw at(place, error);
      }
      return (taken ?? given) as T;
    },
    write: writeObject(codecs, isRenamed),
  };
}

type MemberCodec = {
  readonly member: string;
  readonly name: string;
  readonly write: Codec<unknown>['write'];
};

function writeObject(codecs: readonly MemberCodec[], isRenamed: boolean): Codec<object>['write'] {
  const converted = codecs.flatMap(({ member, write }) => (write ? [{ member, write }] : []));
  if (isRenamed) {
    const byMember = new Map(codecs.map((codec) => [codec.member, codec]));
    return (value) => {
      const stored: Record<string, unknown> = {};
      for (const [member, known] of Object.entries(value)) {
        const { name = member, write } = byMember.get(member) ?? {};
        stored[name] = write && known !== undefined ? write(known) : known;
      }
      return stored;
    };
  }
  if (converted.length === 0) return undefined;
  return (value) => {
    const stored: Record<string, unknown> = { ...value };
    for (const { member, write } of converted) {
      const known = stored[member];
      if (known !== undefined) stored[member] = write(known);
    }
    return stored;
  };
}

function isObject(stored: unknown): stored is Record<string, unknown> {
  return typeof stored === 'object' && stored !== null && !Array.isArray(stored);
}

export function objectOf(stored: unknown): Record<string, unknown> {
  if (!isObject(stored)) throw unreadable('object', stored);
  return stored;
}

type OfKind<T, Tag extends keyof T, Kind> = T extends unknown ? (Kind extends T[Tag] ? T : never) : never;
/** The members of each kind, by the value of the tag. */
export type Kinds<T, Tag extends keyof T> = {
  readonly [Kind in T[Tag] & string]: Members<Omit<OfKind<T, Tag, Kind>, Tag>>;
};

/** Objects of several kinds. The member that names the kind is not repeated among the members of each. */
export function variants<T extends object, Tag extends keyof T & string>(
  tag: Tag,
  kinds: NoInfer<Kinds<T, Tag>>,
): VariantsCodec<T> {
  const codecs = new Map(
    Object.entries<Members<object>>(kinds).map(([kind, members]) => [kind, object(members)]),
  );
  const kindOf = oneOf(...codecs.keys());
  const codecOf = (value: object) => {
    const kind = (value as Record<string, unknown>)[tag];
    return codecs.get(kind as string) ?? (readAt(tag, kindOf.read, kind) as never);
  };
  const isPlain = [...codecs.values()].every(({ write }) => write === undefined);
  const read = (stored: unknown) => codecOf(objectOf(stored)).read(stored) as T;
  const isKnown = (stored: unknown) => codecs.has((objectOf(stored) as Record<Tag, string>)[tag]);
  return {
    read,
    known: (stored) => stored.filter(isKnown).map(read),
    write: isPlain ? undefined : (value) => codecOf(value).write?.(value) ?? value,
  };
}

/** A value stored in another form than the program uses, with the conversion in both directions. */
export function mapped<Stored, T>(
  stored: Codec<Stored>,
  { read, write }: { readonly read: (stored: Stored) => T; readonly write: (value: T) => Stored },
): Codec<T> {
  return {
    read: (given) => read(stored.read(given)),
    write: (value) => (stored.write ? stored.write(write(value)) : write(value)),
  };
}

export const livemode: Codec<boolean> = mapped(oneOf('live', 'test', 'sandbox'), {
  read: livemodeOf,
  write: modeName,
});
