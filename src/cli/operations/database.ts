// mandate database: the rights of the roles that nodes and reports use.
import {
  checkDatabase,
  checkRole,
  ownRole,
  roleExists,
  type RoleFinding,
} from '../../platform/database/roles/check-roles.ts';
import { grantsScript } from '../../platform/database/roles/grants.ts';
import { defined } from '../../defined.ts';
import { printTable, withDatabase } from '../foundation.ts';
import { printJson } from '../json-members.ts';

type Checked = RoleFinding & { readonly role: string };

export function printGrants({ service, reader }: { service: string; reader?: string }): void {
  if (service === reader)
    throw new Error('--service and --reader name the same role. The reader must be another one.');
  console.log(grantsScript({ service, ...defined({ reader }) }));
}

export async function runDatabaseCheck(options: { reader?: string; json?: true }): Promise<void> {
  // If anything fails from here on, the check did not run.
  process.exitCode = 2;
  const found = await withDatabase(async (database) => {
    const { reader } = options;
    if (reader !== undefined && !(await roleExists(database, reader)))
      throw new Error(`There is no role "${reader}". List the roles with "psql --command '\\du'".`);
    const service = await ownRole(database);
    return [
      ...named('', await checkDatabase(database)),
      ...named(service, await checkRole(database, 'service', service)),
      ...(reader === undefined ? [] : named(reader, await checkRole(database, 'reader', reader))),
    ];
  });
  if (options.json) printJson('database check', found.map(toJson));
  else print(found);
  process.exitCode = found.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function named(role: string, findings: readonly RoleFinding[]): Checked[] {
  return findings.map((finding) => ({ role, ...finding }));
}

function print(found: readonly Checked[]): void {
  printTable(
    ['role', 'holds', 'rule'],
    found.map(({ role, rule, violations }) => [role || '-', violations.length === 0 ? 'yes' : 'NO', rule]),
  );
  const broken = found.filter(({ violations }) => violations.length > 0);
  for (const { role, rule, violations } of broken)
    console.log(`\n${role ? `${role} ` : ''}${rule}: not true of ${violations.join(', ')}`);
  if (broken.length > 0) console.log('\nPrint the SQL that corrects rights with "mandate database grants".');
}

function toJson({ role, rule, violations }: Checked) {
  return { role: role || null, rule, holds: violations.length === 0, violations: [...violations] };
}
