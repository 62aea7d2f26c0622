// Wraps every data key with another master key, in one transaction. The data stays as it is, and no node may run.
import type { Database } from '../database/database.ts';
import { hasOtherPrograms } from '../database/connections/programs.ts';
import { oneOf } from '../database/codec.ts';
import { statement, stored } from '../database/statement.ts';
import { NotSetUp } from '../../not-set-up.ts';
import { contextOf } from './keyring.ts';
import type { MasterKey } from './master-key.ts';

const lockKeys = statement({
  name: 'lock_data_keys',
  parameters: {},
  row: {
    purpose: 'text',
    key_version: 'int4',
    wrapped: 'bytea',
    master_key_id: 'text',
    form: stored('int4', oneOf(1, 2)),
  },
  text: 'select purpose, key_version, wrapped, master_key_id, form from data_key for update',
});

const rewrapKey = statement({
  name: 'rewrap_data_key',
  parameters: { purpose: 'text', key_version: 'int4', wrapped: 'bytea', master_key_id: 'text' },
  row: {},
  text: `update data_key set wrapped = :wrapped, master_key_id = :master_key_id
         where purpose = :purpose and key_version = :key_version`,
});

const stopOthers = 'Another program uses this database. Stop every node and command, and run this again.';

/** Codes of payments in progress, which live for minutes and cannot be read with another key. */
const dropCodes = statement({
  name: 'drop_security_codes',
  parameters: {},
  row: {},
  text: 'with codes as (delete from security_code) delete from security_code_key',
});

/**
 * A program that runs keeps the old key and would wrap the next data key with it. So it is looked for after the change and after the
 * commit, too: one that connects later reads the new keys.
 */
export async function changeMasterKey(
  database: Database,
  from: MasterKey,
  to: MasterKey,
): Promise<{ readonly changed: number }> {
  if (await hasOtherPrograms(database)) throw new Error(stopOthers);
  const result = await database.transaction(async (tx) => {
    const keys = await tx.run(lockKeys, {});
    if (keys.length === 0) throw new NotSetUp('The database has no data keys. Start the service first.');
    if (keys.every((key) => key.master_key_id === to.id)) return { changed: 0 };
    const changed = [];
    for (const { purpose, key_version, wrapped, master_key_id, form } of keys) {
      const name = `${purpose}.${key_version}`;
      const context = contextOf(name, form);
      if (master_key_id !== from.id)
        throw new Error(
          `Data key ${name} was wrapped by master key ${master_key_id}, and the old key given is ${from.id}.`,
        );
      const secret = await from.unwrap(wrapped, context);
      changed.push({ purpose, key_version, wrapped: await to.wrap(secret, context), master_key_id: to.id });
    }
    for (const key of changed) await tx.run(rewrapKey, key);
    await tx.run(dropCodes, {});
    if (await hasOtherPrograms(tx)) throw new Error(stopOthers);
    return { changed: keys.length };
  });
  if (result.changed > 0 && (await hasOtherPrograms(database)))
    throw new Error(
      'The stored keys are under the new master key, but another program has started meanwhile and may use the old one. ' +
        'Stop every node and command, and start the nodes with the new key.',
    );
  return result;
}
