import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

type Teardown = { teardown(end: () => Promise<void>): void };

const run = promisify(execFile);
const env = { ...process.env, LC_ALL: 'C.UTF-8', PYTHONUTF8: '1' };

/** Fails unless three independent programs find the archive intact. Resolves to the file that it was written to. */
export async function assertReadable(t: Teardown, bytes: Buffer): Promise<string> {
	const zip = await fileOf(t, bytes);
	await testZip(zip);
	return zip;
}

async function fileOf(t: Teardown, bytes: Buffer): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-zip-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const zip = path.join(folder, 'archive.zip');
	await writeFile(zip, bytes);
	return zip;
}

export async function testZip(zip: string): Promise<void> {
	// An archive without an entry is fine for all but unzip, which warns.
	await Promise.all([
		run('unzip', ['-tqq', zip], { env }),
		run('7z', ['t', zip], { env }),
		run('python3', ['-c', 'import sys, zipfile; sys.exit(zipfile.ZipFile(sys.argv[1]).testzip())', zip], { env }),
	]);
}

/** Fails unless Python finds the archive intact; resolves to what `listZip` does. Much cheaper than all three programs. */
export async function listWhole(t: Teardown, bytes: Buffer): Promise<[name: string, size: number][]> {
	return listZip(await fileOf(t, bytes));
}

/**
 * Names with their sizes in the order of the archive, as Python's zipfile reads them, which fails unless all content
 * has its checksum.
 */
export async function listZip(zip: string): Promise<[name: string, size: number][]> {
	const script =
		'import sys, json, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(json.dumps([(i.filename, i.file_size) for i in z.infolist()])); sys.exit(z.testzip())';
	return JSON.parse((await run('python3', ['-c', script, zip], { env, maxBuffer: 2 ** 28 })).stdout);
}
