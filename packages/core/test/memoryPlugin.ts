import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A plugin whose storage keeps everything in memory until this process ends, and does not report its space. */
const source = (conformance: string, faults: readonly string[]) => `
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
const memory = memoryStorageDriver({ space: 'unknown' });
const driver = {
	...memory,
	async open(...place) {
		return Object.assign(await memory.open(...place), { sharingFaults: async () => ${JSON.stringify(faults)} });
	},
};
`;

/** The flags of a server whose first root is such a storage. `faults` are why several machines must not use it at once. */
export async function memoryStorageFlags(
	t: { teardown(end: () => Promise<void>): void },
	faults: readonly string[] = [],
): Promise<Record<string, string>> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-plugin-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const file = path.join(folder, 'memory.mjs');
	await writeFile(file, source(import.meta.resolve('@stowage/conformance'), faults));
	const password = { memoryKiB: 19456, iterations: 2, parallelism: 1 };
	const plugins = { [pathToFileURL(file).href]: {}, '@stowage/auth-password': password };
	return { '--storage': 'memory', '--plugins': JSON.stringify(plugins) };
}
