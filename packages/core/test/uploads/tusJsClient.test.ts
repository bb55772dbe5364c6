import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { Upload, type UploadOptions } from 'tus-js-client';
import { Client, type TestApp, testApp } from '../testApp.js';

/** Uploads a file with tus-js-client; resolves when it reports success. */
function send(app: TestApp, client: Client, bytes: Buffer, options: UploadOptions = {}): Promise<Upload> {
	return new Promise((resolve, reject) => {
		const upload = new Upload(bytes, {
			endpoint: `${app.server.info.uri}/api/uploads`,
			headers: { cookie: client.cookie ?? '' },
			metadata: { filename: 'sent.bin' },
			retryDelays: [500, 1000, 2000],
			onError: reject,
			onSuccess: () => resolve(upload),
			...options,
		});
		upload.start();
	});
}

test('tus-js-client uploads in chunks, in one request and with the creation', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bytes = randomBytes(1_000_000);
	const paths: (string | undefined)[] = [];
	const onAfterResponse: UploadOptions['onAfterResponse'] = (_request, response) => {
		const place = response.getHeader('Stowage-Entry-Path');
		if (place) paths.push(place);
	};
	await send(app, ada, bytes, { chunkSize: 300_000, onAfterResponse });
	await send(app, ada, bytes, { onAfterResponse });
	await send(app, ada, bytes, { chunkSize: 600_000, uploadDataDuringCreation: true, onAfterResponse });
	await send(app, ada, bytes, { chunkSize: 400_000, overridePatchMethod: true, onAfterResponse });
	await send(app, ada, Buffer.alloc(0), { onAfterResponse });
	const names = ['sent.bin', 'sent (1).bin', 'sent (2).bin', 'sent (3).bin', 'sent (4).bin'];
	t.deepEqual(
		paths,
		names.map(encodeURIComponent).map((name) => name.replaceAll('%2F', '/')),
	);
	const home = path.join(app.filesDir, 'users/ada');
	for (const name of names.slice(0, 4)) t.deepEqual(await readFile(path.join(home, name)), bytes);
	t.is((await readFile(path.join(home, 'sent (4).bin'))).length, 0);
});

test('tus-js-client resumes an interrupted upload', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bytes = randomBytes(2_000_000);
	const url = await new Promise<string>((resolve, reject) => {
		const upload = new Upload(bytes, {
			endpoint: `${app.server.info.uri}/api/uploads`,
			headers: { cookie: ada.cookie ?? '' },
			metadata: { filename: 'broken.bin' },
			retryDelays: [500, 1000, 2000],
			chunkSize: 500_000,
			onError: reject,
			async onChunkComplete(_size, accepted) {
				if (accepted < 1_000_000) return;
				await upload.abort();
				resolve(upload.url ?? '');
			},
		});
		upload.start();
	});
	const requests: string[] = [];
	await send(app, ada, bytes, {
		uploadUrl: url,
		onBeforeRequest: (request) => {
			requests.push(`${request.getMethod()} ${request.getHeader('Upload-Offset') ?? ''}`);
		},
	});
	t.is(requests[0], 'HEAD ');
	t.regex(requests[1] ?? '', /^PATCH 1\d{6}$/);
	t.true((await readFile(path.join(app.filesDir, 'users/ada/broken.bin'))).equals(bytes));
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});
