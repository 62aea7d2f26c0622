// What a setting is: one row with its name, its meaning, how its text is read and how its value is shown.

export type Mode = 'sandbox' | 'live';

type Reading = {
  readonly mode: Mode;
  readonly workingFolder: string;
  /** Says what to correct. */
  readonly addFault: (fault: string) => void;
};

/** Where the value that `mandate config` shows is in force. */
type Place = { readonly mode: Mode; readonly dataFolder: string };

export type Setting<Value> = {
  readonly name: string;
  /** As the documentation has it. */
  readonly byDefault: string;
  readonly meaning: string;
  /** The smallest and the largest whole number. */
  readonly range?: readonly [number, number];
  readonly secret?: true;
  /** A sandbox brings its own. */
  readonly isOfSandbox?: true;
  /** An empty text counts as none. */
  read(text: string | undefined, reading: Reading): Value;
  shown(value: Value, place: Place): string | undefined;
};

export type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;

/** The default is left out where it follows from the usual value. */
type Described = Pick<Setting<unknown>, 'name' | 'meaning'> &
  Partial<Pick<Setting<unknown>, 'byDefault' | 'secret' | 'isOfSandbox'>>;

type Usual<Value> = Value | ((mode: Mode) => Value);

export const mask = '********';

export function oneOf<const Value extends string>(
  described: Described,
  values: readonly Value[],
  usual: Usual<NoInfer<Value>>,
): Setting<Value> {
  return {
    byDefault: String(usual),
    ...described,
    read(text, { mode, addFault }) {
      const found = values.find((known) => known === text);
      if (text !== undefined && found === undefined)
        addFault(`${described.name} is "${text}". Use one of: ${values.join(', ')}.`);
      return found ?? usualIn(mode, usual);
    },
    shown: (value) => value,
  };
}

export function onOrOff(described: Described, usual: 'on' | 'off'): Setting<boolean> {
  const choice = oneOf(described, ['on', 'off'], usual);
  return {
    ...choice,
    read: (text, reading) => choice.read(text, reading) === 'on',
    shown: (isOn) => (isOn ? 'on' : 'off'),
  };
}

export function wholeNumber(
  described: Described,
  range: readonly [number, number],
  usual: Usual<number>,
): Setting<number> {
  const [min, max] = range;
  return {
    byDefault: String(usual),
    ...described,
    range,
    read(text, { mode, addFault }) {
      const number = /^\d{1,9}$/.test(text ?? '') ? Number(text) : NaN;
      if (number >= min && number <= max) return number;
      if (text !== undefined)
        addFault(`${described.name} is "${text}". Use a whole number from ${min} to ${max}.`);
      return usualIn(mode, usual);
    },
    shown: String,
  };
}

/** In milliseconds. */
export function seconds(
  described: Described,
  range: readonly [number, number],
  usual: number,
): Setting<number> {
  const number = wholeNumber(described, range, usual);
  return {
    ...number,
    read: (text, reading) => number.read(text, reading) * 1_000,
    shown: (ms) => String(ms / 1_000),
  };
}

/** A secret is masked. */
export function anyText(described: Described & { readonly byDefault: string }): Setting<string | undefined> {
  return {
    ...described,
    read: (text) => text,
    shown: (value) => (described.secret ? value && mask : value),
  };
}

/** A fault does not repeat the address, which may contain a password. */
export function address(described: Described & { readonly byDefault: string }): Setting<string | undefined> {
  return {
    ...described,
    read(text, { addFault }) {
      const fault = text && addressFault(text);
      if (fault) addFault(`${described.name} ${fault}`);
      return text;
    },
    shown: (value) => value && withoutSecrets(value),
  };
}

export function addressFault(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return 'is not a valid http or https address. Write it as https://host:port.';
  const { username, password } = new URL(text);
  return username === '' && password === '' ? undefined : 'contains a user name or password. Remove them.';
}

/** Neither user, password nor parameters, which may contain a password too. */
export function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return mask;
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`.replace(/\/$/, '');
}

function usualIn<Value extends string | number>(mode: Mode, usual: Usual<Value>): Value {
  return typeof usual === 'function' ? usual(mode) : usual;
}
