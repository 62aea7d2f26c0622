// Once for a whole test run: a throw-away PostgreSQL and a migrated template database, which every test file copies.
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { startTestCluster } from './test-cluster.ts';

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
  }
}

export const templateName = 'mandate_template';

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { connection, stop } = await startTestCluster();
  const administration = openDatabase({ connection, connectionsMost: 1 });
  await administration.withClient((client) => client.query(`create database ${templateName}`));
  await administration.end();
  const template = openDatabase({
    connection: { ...connection, database: templateName },
    connectionsMost: 1,
  });
  await migrate(template);
  await template.end();
  project.provide('cluster', connection);
  return stop;
}
