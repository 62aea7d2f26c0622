// What a program finds missing or not its own: the database, its tables, its keys. Only `mandate serve` and `mandate migrate` create them.

/** The command did nothing. It ends with an exit code of its own, so that scripts can tell. */
export class NotSetUp extends Error {
  override readonly name = 'NotSetUp';
}

/** Whether a program may create what is missing of its database, tables and keys, or has to find it. */
export type SetUp = { readonly mayCreate: boolean };
