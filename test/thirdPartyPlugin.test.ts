import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Renderer, StowagePlugin } from '@stowage/plugin-api';
import test from 'ava';
import { execa } from 'execa';
import { until } from '../packages/core/test/until.js';
import { serveArgs, startServer } from './serverProcess.js';

const clone = path.resolve('.');

/** The code blocks of the guide, by language, in order. */
async function blocksOf(guide: string): Promise<Record<string, string[]>> {
	const blocks: Record<string, string[]> = {};
	for (const [, language = '', code = ''] of (await readFile(guide, 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
		blocks[language] = [...(blocks[language] ?? []), code];
	}
	return blocks;
}

test('the storage plugin of the guide installs by its commands, and keeps deleted files', async (t) => {
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
		body: JSON.stringify({ filePath: 'photo.jpg', type: 'private', permanent: true }),
	});
	t.is(deleted.status, 200);

	const kept = path.join(site, 'data/files/kept');
	const [only = ''] = await readdir(kept);
	t.is(await readFile(path.join(kept, only, 'photo.jpg'), 'utf8'), 'precious');
	t.deepEqual(await readdir(path.join(site, 'data/files/users/ada')), ['Public']);
});

/** A minimal Photoshop file of one colour. */
function photoshopFile(width: number, height: number, colour: readonly [number, number, number]): Buffer {
	const header = Buffer.alloc(40);
	header.write('8BPS', 0, 'latin1');
	header.writeUInt16BE(1, 4);
	header.writeUInt16BE(colour.length, 12);
	header.writeUInt32BE(height, 14);
	header.writeUInt32BE(width, 18);
	header.writeUInt16BE(8, 22);
	// RGB; then no palette, no resources, no layers, no compression.
	header.writeUInt16BE(3, 24);
	return Buffer.concat([header, ...colour.map((value) => Buffer.alloc(width * height, value))]);
}

test('the renderer of the guide installs by its commands, and makes thumbnails', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-guide-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const { json = [], js = [], yaml = [], sh = [] } = await blocksOf('docs/plugins.md');
	await mkdir(path.join(folder, 'stowage-psd'));
	await writeFile(path.join(folder, 'stowage-psd/package.json'), json[1] ?? '');
	await writeFile(path.join(folder, 'stowage-psd/index.js'), js[1] ?? '');
	await execa('sh', ['-euc', (sh[0] ?? 'false').replaceAll('stowage-storage-keep', 'stowage-psd')], {
		cwd: folder,
		env: { STOWAGE: clone, npm_config_prefer_offline: 'true' },
	});
	const site = path.join(folder, 'my-server');
	// Without the plugin for photos: one renderer needs no other.
	await writeFile(path.join(site, 'stowage.yaml'), `${yaml[1] ?? ''}  "@stowage/preview": false\n`);
	const [command = '', ...args] = (sh[1] ?? '').trim().split(' ');
	const server = await startServer(t, { command, args: [...args, '--port', '0'], cwd: site });
	const cookie = await server.register('ada');
	const home = path.join(site, 'data/files/users/ada');
	await mkdir(home, { recursive: true });
	await writeFile(path.join(home, 'poster.psd'), photoshopFile(512, 256, [200, 40, 40]));
	await writeFile(path.join(home, 'torn.psd'), '8BPS');
	await writeFile(path.join(home, 'photo.jpg'), Buffer.from('\xFF\xD8\xFF', 'latin1'));
	const thumbnail = (name: string) =>
		fetch(`${server.url}/api/thumbnail/${name}?type=private&size=256`, { headers: { cookie } });
	const answer = await thumbnail('poster.psd');
	t.is(answer.status, 200);
	const picture = Buffer.from(await answer.arrayBuffer());
	t.is(picture.toString('latin1', 8, 12), 'WEBP');
	const raw = ['-f', 'webp_pipe', '-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'];
	const { stdout } = await execa('ffmpeg', ['-v', 'error', ...raw], { input: picture, encoding: 'buffer' });
	t.is(stdout.length, 256 * 128 * 3);
	t.true((stdout[0] ?? 0) > 150 && (stdout[1] ?? 255) < 90);
	t.is((await thumbnail('torn.psd')).status, 415);
	t.is((await thumbnail('photo.jpg')).status, 415);
	const capabilities = (await (await fetch(`${server.url}/api/capabilities`)).json()) as Record<string, unknown>;
	t.true(capabilities.thumbnails);
	t.deepEqual(capabilities.thumbnailExtensions, ['psd']);
});

test('a program of the guide’s renderer that is killed says nothing of the file', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-guide-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const { js = [] } = await blocksOf('docs/plugins.md');
	await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
	// In place of ffmpeg, which may end by itself: it reads what it is lent, and nothing comes.
	const waiting = path.join(folder, 'waiting');
	await writeFile(waiting, '#!/bin/sh\nread -r line <&3\n', { mode: 0o755 });
	await writeFile(path.join(folder, 'index.js'), (js[1] ?? '').replace("findProgram('ffmpeg')", `'${waiting}'`));
	await symlink(path.join(clone, 'node_modules'), path.join(folder, 'node_modules'));
	const { plugin } = (await import(pathToFileURL(path.join(folder, 'index.js')).href)) as { plugin: StowagePlugin };
	let renderer: Renderer | undefined;
	const register = (_name: string, given: Renderer) => {
		renderer = given;
	};
	plugin.start({ providers: { renderer: { register } } } as never, {});
	// Its other end is open.
	await execa('mkfifo', [path.join(folder, 'slow.psd')]);
	const file = await open(path.join(folder, 'slow.psd'), 'r+');
	t.teardown(() => file.close());
	const source = { withLocalFile: (work: (file: { descriptor: number }) => unknown) => work({ descriptor: file.fd }) };
	const rendered = renderer?.render(source as never, 256, new AbortController().signal);
	const failed = t.throwsAsync(async () => await rendered, { message: 'There are no previews right now.' });
	const { pid } = process;
	const found = await until('the program runs', async () => {
		const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean);
		const words = await Promise.all(children.map((each) => readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '')));
		return children.find((_, at) => words[at]?.includes('psd_pipe'));
	});
	// With its group: a sandbox that is killed before it is bound to the life of the one that started it would go on.
	process.kill(-Number(found), 'SIGKILL');
	t.like(await failed, { kind: 'unavailable' });
});

test('the job of the guide runs, and continues after a kill of the server', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-guide-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const { js = [] } = await blocksOf('docs/plugins.md');
	await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
	await writeFile(path.join(folder, 'index.js'), js[2] ?? '');
	// As if it were installed beside the server.
	await symlink(path.join(clone, 'node_modules'), path.join(folder, 'node_modules'));
	const plugins = JSON.stringify({
		'@stowage/preview': false,
		[pathToFileURL(path.join(folder, 'index.js')).href]: {},
	});
	const start = () => startServer(t, { args: serveArgs(path.join(folder, 'data'), '--plugins', plugins) });
	let server = await start();
	const cookie = await server.register('ada');
	const home = path.join(folder, 'data/files/users/ada');
	const names = Array.from({ length: 300 }, (_, n) => `${String(n).padStart(3, '0')}.txt`);
	for (const name of names) await writeFile(path.join(home, name), name);
	const started = await fetch(`${server.url}/api/checksums`, {
		method: 'POST',
		headers: { cookie, 'content-type': 'application/json' },
		body: '{"directory":""}',
	});
	t.is(started.status, 202);
	const { id } = (await started.json()) as { id: string };
	const readJob = async () => {
		const answer = await fetch(`${server.url}/api/jobs/${id}`, { headers: { cookie } });
		return (await answer.json()) as { status: string; done: number; detail: unknown };
	};
	await until('the job makes progress', async () => (await readJob()).done >= 5);
	await server.stop('SIGKILL');
	server = await start();
	await until('the job has completed', async () => (await readJob()).status === 'completed');
	t.deepEqual((await readJob()).detail, { path: 'SHA256SUMS' });
	const lines = (await readFile(path.join(home, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n');
	t.deepEqual(
		lines,
		names.map((name) => `${createHash('sha256').update(name).digest('hex')}  ${name}`),
	);
	t.deepEqual(
		(await readdir(home)).filter((name) => name.startsWith('SHA')),
		['SHA256SUMS'],
	);
});
