// Once for a whole test run: a throw-away PostgreSQL and a migrated template database, which every test file copies; and the
// program, built, for tests that start it.
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { installBuiltProgram } from './built-program.ts';
import { startTestCluster, temporaryFolder } from './test-cluster.ts';

export type ClusterConnection = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    cluster: ClusterConnection;
    /** The file that runs it. */
    builtProgram: string;
  }
}

export const templateName = 'mandate_template';

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { folder, remove } = temporaryFolder();
  project.provide('builtProgram', await installBuiltProgram(folder));
  const { connection, stop } = await startTestCluster();
  const administration = openDatabase({ connection, maxConnections: 1 });
  await administration.withClient((client) => client.query(`create database ${templateName}`));
  await administration.end();
  const template = openDatabase({
    connection: { ...connection, database: templateName },
    maxConnections: 1,
  });
  await migrate(template);
  await template.end();
  project.provide('cluster', connection);
  return async () => {
    await stop();
    await remove();
  };
}
