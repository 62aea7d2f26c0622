// The code by which Node, PostgreSQL and libraries distinguish their errors.
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
