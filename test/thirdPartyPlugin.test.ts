import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import { execa } from 'execa';
import { startServer } from './serverProcess.js';

const clone = path.resolve('.');

/** The code blocks of the guide, by language, in order. */
async function blocksOf(guide: string): Promise<Record<string, string[]>> {
	const blocks: Record<string, string[]> = {};
	for (const [, language = '', code = ''] of (await readFile(guide, 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
		blocks[language] = [...(blocks[language] ?? []), code];
	}
	return blocks;
}

test('the storage plugin of the guide installs as it says, and keeps what is deleted', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-guide-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const { json = [], js = [], yaml = [], sh = [] } = await blocksOf('docs/plugins.md');
	await mkdir(path.join(folder, 'stowage-storage-keep'));
	await writeFile(path.join(folder, 'stowage-storage-keep/package.json'), json[0] ?? '');
	await writeFile(path.join(folder, 'stowage-storage-keep/index.js'), js[0] ?? '');
	await execa('sh', ['-euc', sh[0] ?? 'false'], {
		cwd: folder,
		env: { STOWAGE: clone, npm_config_prefer_offline: 'true' },
	});
	const site = path.join(folder, 'my-server');
	await writeFile(path.join(site, 'stowage.yaml'), yaml[0] ?? '');

	const [command = '', ...args] = (sh[1] ?? '').trim().split(' ');
	const server = await startServer(t, { command, args: [...args, '--port', '0'], cwd: site });
	const cookie = await server.register('ada');
	const form = new FormData();
	form.set('file', new Blob(['precious']), 'photo.jpg');
	t.is((await fetch(`${server.url}/api/upload`, { method: 'POST', body: form, headers: { cookie } })).status, 200);
	const deleted = await fetch(`${server.url}/api/deleteItem`, {
		method: 'DELETE',
		headers: { cookie, 'content-type': 'application/json' },
		body: JSON.stringify({ filePath: 'photo.jpg', type: 'private' }),
	});
	t.is(deleted.status, 200);

	const kept = path.join(site, 'data/files/kept');
	const [only = ''] = await readdir(kept);
	t.is(await readFile(path.join(kept, only, 'photo.jpg'), 'utf8'), 'precious');
	t.deepEqual(await readdir(path.join(site, 'data/files/users/ada')), ['Public']);
});
