import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A plugin whose storage keeps everything in memory until this process ends, and does not report its space. */
const source = (conformance: string) => `
import { memoryStorageDriver } from ${JSON.stringify(conformance)};
export const plugin = {
	name: 'memory',
	version: '1.0.0',
	needs: [],
	options: { safeParse: (data) => ({ success: true, data }) },
	start({ providers }) {
		providers.storage.register('memory', driver);
	},
};
const driver = memoryStorageDriver({ space: 'unknown' });
`;

/** The flags of a server whose first root is such a storage. */
export async function memoryStorageFlags(t: {
	teardown(end: () => Promise<void>): void;
}): Promise<Record<string, string>> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-plugin-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const file = path.join(folder, 'memory.mjs');
	await writeFile(file, source(import.meta.resolve('@stowage/conformance')));
	const password = { memoryKiB: 19456, iterations: 2, parallelism: 1 };
	const plugins = { [pathToFileURL(file).href]: {}, '@stowage/auth-password': password };
	return { '--storage': 'memory', '--plugins': JSON.stringify(plugins) };
}
