import { open, readdir, readlink } from 'node:fs/promises';
import { isFailure, type OpenFile, withLocalFile } from '@stowage/plugin-api';
import test from 'ava';
import { testApp } from '../testApp.js';

const options = (folder: string) => ({
	folder,
	signal: new AbortController().signal,
	purpose: 'preview',
	maxCopyBytes: 512 * 1024 * 1024,
});

/** The targets of the open descriptors of this process. */
async function openFiles(): Promise<string[]> {
	const descriptors = await readdir('/proc/self/fd');
	return Promise.all(descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => '')));
}

test('a file of a storage without descriptors is copied to an unnamed file, which is closed after its use', async (t) => {
	const { dataDir } = await testApp(t);
	const file = {
		item: { size: 6 },
		read: async function* () {
			yield Buffer.from('abc');
			yield Buffer.from('def');
		},
	} as unknown as OpenFile;
	const before = await readdir(dataDir);
	let copyPath = '';
	const seen = await withLocalFile(file, options(dataDir), async ({ descriptor }) => {
		copyPath = await readlink(`/proc/self/fd/${descriptor}`);
		t.true((await openFiles()).includes(copyPath));
		t.deepEqual(await readdir(dataDir), before);
		const copy = await open(`/proc/self/fd/${descriptor}`);
		const text = await copy.readFile('utf8');
		await copy.close();
		return text;
	});
	t.is(seen, 'abcdef');
	t.false((await openFiles()).includes(copyPath), 'the copy is closed');
});

test('a file that is too large to copy is refused, and a copy that fails leaves nothing', async (t) => {
	const { dataDir } = await testApp(t);
	const before = await readdir(dataDir);
	const large = { item: { size: 2 ** 40 } } as OpenFile;
	const error = await t.throwsAsync(withLocalFile(large, options(dataDir), async () => {}));
	t.true(isFailure(error, 'unsupportedMediaType'));
	const breaking = {
		item: { size: 6 },
		read: async function* () {
			yield Buffer.from('abc');
			throw new Error('The storage is away.');
		},
	} as unknown as OpenFile;
	await t.throwsAsync(
		withLocalFile(breaking, options(dataDir), async () => {}),
		{ message: 'The storage is away.' },
	);
	t.deepEqual(await readdir(dataDir), before);
});
