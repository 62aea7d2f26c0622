// mandate keys change-master-key: the way out of a master key that is weak, or that others may have.
import { readFileSync } from 'node:fs';
import { databaseInUse } from '../../app/composition/foundation.ts';
import { changeMasterKey } from '../../platform/keys/change-master-key.ts';
import { localMasterKey, parseMasterKey } from '../../platform/keys/master-key.ts';
import { openLog } from '../../platform/log.ts';
import { settingsHere } from '../settings.ts';

export async function replaceMasterKey({ oldKeyFile }: { oldKeyFile: string }): Promise<void> {
  const settings = settingsHere();
  // Its other connections would look like those of another program.
  const single = { ...settings, databaseConnections: 1 };
  const { database, close } = await databaseInUse(single, openLog({ level: 'error', human: true }));
  try {
    if (!settings.masterKey) throw new Error('MANDATE_MASTER_KEY is not set. Set it to the new key.');
    const oldKey = parseMasterKey(readFileSync(oldKeyFile, 'utf8'));
    if (!oldKey) throw new Error(`${oldKeyFile} does not hold 32 bytes in base64. Give the old master key.`);
    const { changed } = await changeMasterKey(
      database,
      localMasterKey(oldKey),
      localMasterKey(settings.masterKey),
    );
    if (changed === 0) return console.log('The stored keys are under this master key already.');
    console.log(`${changed} stored keys are under the new master key. Start the nodes with it.`);
  } finally {
    await close();
  }
}
