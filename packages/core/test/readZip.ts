import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

type Teardown = { teardown(end: () => Promise<void>): void };

const run = promisify(execFile);
const env = { ...process.env, LC_ALL: 'C.UTF-8', PYTHONUTF8: '1' };

/** Fails unless three independent programs find the archive whole. Resolves to the file that it was written to. */
export async function assertReadable(t: Teardown, bytes: Buffer): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-zip-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const zip = path.join(folder, 'archive.zip');
	await writeFile(zip, bytes);
	await testZip(zip);
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

/** Names with their sizes in the order of the archive, as Python's zipfile reads them. */
export async function listZip(zip: string): Promise<[name: string, size: number][]> {
	const script =
		'import sys, json, zipfile; print(json.dumps([(i.filename, i.file_size) for i in zipfile.ZipFile(sys.argv[1]).infolist()]))';
	return JSON.parse((await run('python3', ['-c', script, zip], { env, maxBuffer: 2 ** 28 })).stdout);
}
