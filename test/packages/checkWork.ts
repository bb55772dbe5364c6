import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { until } from '../../packages/core/test/until.js';
import { film, h264, picture, probe, type Status } from '../../plugins/handbrake/test/conversions.js';
import type { ServerProcess } from '../serverProcess.js';

const run = promisify(execFile);

/** An installed server with the account `ada`, whose password is `correct horse`. */
export interface Installed {
	/** Ada's folder, as this process finds it. */
	home: string;
	uid: number;
	gid: number;
	start(): Promise<ServerProcess>;
}

const pdf = `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>> endobj
trailer <</Root 1 0 R>>
%%EOF
`;

/** Thumbnails of a PDF and of a HEIC photo, a ZIP, and a conversion that outlives its killed server. */
export async function checkWork(t: ExecutionContext, { home, uid, gid, start }: Installed): Promise<void> {
	const put = async (name: string, content: string | Buffer) => {
		await writeFile(path.join(home, name), content);
		await chown(path.join(home, name), uid, gid);
	};
	await put('page.pdf', pdf);
	await put('photo.heic', await photo(t));
	await mkdir(path.join(home, 'album'));
	await put('album/a.txt', 'four');
	await film('installed.mp4', [...picture('320x180', 20), ...h264], path.join(home, 'film.mp4'));
	for (const name of ['album', 'film.mp4']) await chown(path.join(home, name), uid, gid);

	const first = await start();
	const headers = { cookie: await signIn(first), 'content-type': 'application/json' };
	for (const name of ['page.pdf', 'photo.heic', 'film.mp4']) {
		const thumbnail = await fetch(`${first.url}/api/thumbnail/${name}?type=private&size=256`, { headers });
		t.is(thumbnail.headers.get('content-type'), 'image/webp', `${name}: ${await thumbnail.clone().text()}`);
	}
	const zip = await (await fetch(`${first.url}/api/download/album?type=private`, { headers })).arrayBuffer();
	t.is(Buffer.from(zip).subarray(0, 2).toString(), 'PK');

	const body = JSON.stringify({ filePath: 'film.mp4', outputFormat: 'webm', quality: 30, deleteOriginal: true });
	const answer = await fetch(`${first.url}/api/handbrake/convert`, { method: 'POST', headers, body });
	t.is(answer.status, 202, await answer.clone().text());
	const { conversionId } = (await answer.json()) as { conversionId: string };
	const statusAt = async ({ url }: ServerProcess) =>
		(await (await fetch(`${url}/api/handbrake/status/${conversionId}`, { headers })).json()) as Status;
	await until('the conversion has begun', async () => (await statusAt(first)).status !== 'queued');
	await first.stop('SIGKILL');

	const second = await start();
	const done = await until('the film is converted', async () => {
		const status = await statusAt(second);
		return ['queued', 'processing'].includes(status.status) ? undefined : status;
	});
	t.like(done, { status: 'completed', outputPath: 'film.webm' }, JSON.stringify(done));
	t.deepEqual(
		(await readdir(home)).filter((name) => name.startsWith('film')),
		['film.webm'],
	);
	t.deepEqual((await probe(path.join(home, 'film.webm'))).codecs, ['vp9']);
	await second.stop();
}

async function photo(t: ExecutionContext): Promise<Buffer> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-photo-'));
	t.teardown(() => rm(folder, { recursive: true }));
	const [png, heic] = [path.join(folder, 'a.png'), path.join(folder, 'a.heic')];
	await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'color=red:s=320x200', '-frames:v', '1', png]);
	await run('heif-enc', [png, '-o', heic]);
	return readFile(heic);
}

async function signIn({ url }: ServerProcess): Promise<string> {
	const answer = await fetch(`${url}/api/login`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ username: 'ada', password: 'correct horse' }),
	});
	if (!answer.ok) throw new Error(`ada could not sign in: ${await answer.text()}`);
	const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
	return cookies.join('; ');
}
