// npm run schema: migrates a throw-away database and writes schema.sql. A test compares the two.
import { writeFile } from 'node:fs/promises';
import { openDatabase } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { startTestCluster } from '../../test/support/database/test-cluster.ts';
import { schemaText } from './schema-text.ts';
import { readOptions } from '../script-options.ts';

readOptions(`npm run schema: writes schema.sql. It takes no options.`);

const { connection, stop } = await startTestCluster();
const database = openDatabase({ connection, maxConnections: 1 });
try {
  await migrate(database);
  await writeFile(new URL('../../schema.sql', import.meta.url), await database.withClient(schemaText));
} finally {
  await database.end();
  await stop();
}
