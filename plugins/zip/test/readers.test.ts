import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { zipFormat } from '../src/zipFormat.js';
import { GeneratedFiles, Rows } from './generatedFiles.js';

const run = promisify(execFile);
const env = { ...process.env, LC_ALL: 'C.UTF-8', PYTHONUTF8: '1' };
const readZip = fileURLToPath(new URL('readers/ReadZip.java', import.meta.url));

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let folder: string;
let zip: string;
const files = new GeneratedFiles();

test.before(async () => {
	folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-readers-'));
	zip = path.join(folder, 'archive.zip');
	files.add('docs', 'folder').add('docs/empty', 'folder').add('docs/nothing', new Uint8Array(0));
	for (const size of [1, 65_534, 65_535, 65_536, 65_537, 131_070, 131_075, 1_048_576, 3_000_001]) {
		files.add(`docs/${size} 📁 ä.bin`, randomBytes(size));
	}
	// Content that deflates well, and content that looks like records of an archive.
	files.add('zeros', new Uint8Array(500_000));
	files.add('an archive in it', Buffer.alloc(300_000, 'PK\x07\x08PK\x03\x04PK\x01\x02'));
	files.add('last', randomBytes(10));
	const archive = await zipFormat(new Rows()).archive(files);
	await pipeline(archive.read(), createWriteStream(zip));
});

test.after.always(() => rm(folder, { recursive: true, force: true }));

/** The names of all files, and of folders with a slash, with the hash of their content. */
const expected = () =>
	new Map(
		files.entries.map(({ name, type }) =>
			type === 'file' ? [name, sha256(files.bytes.get(name) as Uint8Array)] : [`${name}/`, 'folder'],
		),
	);

async function contentsOf(root: string): Promise<Map<string, string>> {
	const found = new Map<string, string>();
	for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
		const name = path.relative(root, path.join(entry.parentPath, entry.name));
		if (entry.isDirectory()) found.set(`${name}/`, 'folder');
		else found.set(name, sha256(await readFile(path.join(root, name))));
	}
	return found;
}

const sorted = (contents: Map<string, string>) => [...contents].sort();

/** Runs a program with the archive on its standard input, through a pipe, which cannot be read twice. */
async function runOnPipe(program: string, args: readonly string[]): Promise<string> {
	const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
	const [output, code] = await Promise.all([
		text(child.stdout),
		new Promise((resolve) => child.once('close', resolve)),
		pipeline(createReadStream(zip), child.stdin),
	]);
	if (code !== 0) throw new Error(`${program} ended with ${code}.`);
	return output;
}

test('Java reads all contents from a pipe', async (t) => {
	const found = (await runOnPipe('java', [readZip])).trim().split('\n');
	const contents = found.map((line): [string, string] => {
		const [name = '', hash = ''] = line.split(' ');
		return [Buffer.from(name, 'base64').toString(), hash];
	});
	t.deepEqual(
		contents,
		[...expected()].map(([name, hash]) => [name, hash === 'folder' ? sha256(new Uint8Array(0)) : hash]),
	);
});

const extracted = test.macro(async (t, extract: (into: string) => Promise<unknown>) => {
	const into = await mkdtemp(path.join(folder, 'out-'));
	await mkdir(into, { recursive: true });
	await extract(into);
	t.deepEqual(sorted(await contentsOf(into)), sorted(expected()));
});
test('bsdtar reads all contents from a pipe', extracted, (into) => runOnPipe('bsdtar', ['-xf', '-', '-C', into]));
test('busybox reads all contents', extracted, (into) => run('busybox', ['unzip', '-q', zip, '-d', into], { env }));
test('unzip reads all contents', extracted, (into) => run('unzip', ['-q', zip, '-d', into], { env }));
test('7z reads all contents', extracted, (into) => run('7z', ['x', '-bd', `-o${into}`, zip], { env }));
test('Python reads all contents', extracted, (into) =>
	run('python3', ['-c', 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])', zip, into], {
		env,
	}),
);
