import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { memberFixture } from '../members/memberFixture.js';
import { shareFixture } from '../shares/shareFixture.js';
import { Client, field, file, json, testApp } from '../testApp.js';
import { create, head, metadata, patch, uploadState } from '../tusClient.js';

/** What becomes of a file at a path after it was uploaded, so that it is not there any more. */
const ends: Record<string, (at: string) => Promise<unknown>> = {
	removed: (at) => rm(at),
	moved: (at) => rename(at, `${at} elsewhere`),
	'in a folder that was moved': (at) => rename(path.dirname(at), `${path.dirname(at)} elsewhere`),
	replaced: async (at) => {
		await writeFile(`${at} new`, 'xyz');
		await rename(`${at} new`, at);
	},
	'replaced by a folder': async (at) => {
		await rm(at);
		await mkdir(at);
	},
	overwritten: (at) => writeFile(at, 'something longer'),
};

const isGone = async (t: ExecutionContext, client: Client, location: string) => {
	t.is((await head(client, location)).statusCode, 410);
	for (const offset of [0, 3]) {
		const sent = await patch(client, location, offset, '');
		t.is(json(sent).code, 'EXPIRED');
		t.is(json(sent).message, 'The file of this upload is not where it was put any more.');
	}
};

for (const area of ['private', 'public'])
	test(`a ${area} upload is not said to be complete once its file is gone, and begins anew with another key`, async (t) => {
		const app = await testApp(t);
		const ada = await new Client(app).register('ada');
		const base = path.join(app.filesDir, 'users/ada', area === 'public' ? 'Public' : '');
		for (const [n, [end, makeGone]] of Object.entries(ends).entries()) {
			const key = (letter: string) => ({ 'stowage-upload-key': letter.repeat(20) + String(n).padStart(2, '0') });
			const folder = path.join(base, `d${n}`);
			await mkdir(folder);
			const fields = { filename: 'a', directory: `d${n}`, type: area };
			const location = String((await create(ada, 3, fields, key('k'), 'abc')).headers.location);
			// Whoever may read it is no reason to send it again.
			await chmod(path.join(folder, 'a'), 0o600);
			t.deepEqual(uploadState(await head(ada, location)), [200, 3, `d${n}/a`], end);
			t.deepEqual(uploadState(await patch(ada, location, 3, '')), [204, 3, `d${n}/a`]);
			t.deepEqual(uploadState(await create(ada, 3, fields, key('k'))), [201, 3, `d${n}/a`]);
			await makeGone(path.join(folder, 'a'));
			await isGone(t, ada, location);
			t.is((await create(ada, 3, fields, key('k'), 'abc')).statusCode, 410);
			await mkdir(folder, { recursive: true });
			t.is((await create(ada, 3, fields, key('l'), 'abc')).statusCode, 201);
			t.true((await readdir(folder)).length > 0);
		}
	});

test('an upload whose file was deleted or replaced by a call is not said to be complete', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const send = async (name: string) => String((await create(ada, 3, { filename: name }, {}, 'abc')).headers.location);
	const [one, other] = [await send('one'), await send('other')];
	await ada.call('DELETE', '/api/deleteItem', { filePath: 'one', type: 'private' });
	await isGone(t, ada, one);
	await ada.upload('/api/upload', [file('other', 'xyz')]);
	t.is((await head(ada, other)).statusCode, 200);
	await ada.upload('/api/upload', [field('onConflict', 'replace'), file('other', 'xyz')]);
	await isGone(t, ada, other);
});

test('an upload of a visitor is not said to be complete once its file is gone', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	const location = String((await create(visitor, 3, { filename: 'a' }, {}, 'abc')).headers.location);
	t.deepEqual(uploadState(await head(visitor, location)), [200, 3, 'a']);
	await rm(path.join(app.filesDir, 'users/anonymous/Public/a'));
	await isGone(t, visitor, location);
});

test('an upload of a guest of a share is not said to be complete once its owner has moved the file away', async (t) => {
	const { home, share } = await shareFixture(t);
	const { guest } = await share(['docs'], { mode: 'upload', askName: true });
	const tus = { 'tus-resumable': '1.0.0' };
	const sent = await guest.call('POST', '/uploads', 'abc', {
		...{ ...tus, 'content-type': 'application/offset+octet-stream', 'upload-length': '3' },
		'upload-metadata': metadata({ filename: 'a', sender: 'Bob' }),
	});
	t.is(sent.statusCode, 201, sent.payload);
	const location = `/uploads/${String(sent.headers.location).split('/').at(-1)}`;
	t.is((await guest.call('HEAD', location, undefined, tus)).statusCode, 200);
	await rename(home('docs/Bob/a'), home('docs/Bob/b'));
	t.is((await guest.call('HEAD', location, undefined, tus)).statusCode, 410);
});

test('an upload of a member is found in its folder, which has another name by now, until its file is gone', async (t) => {
	const { ada, bob, home, share } = await memberFixture(t);
	await share({ bob: 'edit' });
	const fields = { type: 'shared', directory: 'Photos', filename: 'up.bin' };
	const location = String((await create(bob, 3, fields, {}, 'abc')).headers.location);
	t.deepEqual(uploadState(await head(bob, location)), [200, 3, 'Photos/up.bin']);
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	t.is((await head(bob, location)).statusCode, 200);
	await rm(home('docs/Pictures/up.bin'));
	await isGone(t, bob, location);
	await share({}, 'docs/Pictures');
	t.is((await head(bob, location)).statusCode, 410);
});
