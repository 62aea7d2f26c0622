// Members that may be missing: neither undefined nor null may get into an object of the domain. An absent member differs from an
// undefined one (exactOptionalPropertyTypes), and an empty column is null.
type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined | null> };

/** Only the members that have a value: `{ id, ...defined({ email, phone: row.phone }) }`. */
export function defined<T extends object>(members: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  // Without a pair for each member: this is called for most changes of state.
  for (const name of Object.keys(members)) {
    const value: unknown = members[name as keyof T];
    if (value !== undefined && value !== null) kept[name] = value;
  }
  return kept as Defined<T>;
}
