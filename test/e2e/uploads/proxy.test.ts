import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import { startNginx } from '../../nginx.js';
import { plainArgs, startServer } from '../../serverProcess.js';
import { launchBrowser, openPage } from '../support/browser.js';
import { holdTimers } from '../support/heldTimers.js';
import { reservePort } from '../support/reservePort.js';
import { uploadTimeoutMs } from '../support/timeouts.js';
import { makeFile, sha256, successMs, waitForUpload } from '../support/uploads.js';

const megabyte = 1024 * 1024;

/** Debian's default nginx, with a second port that accepts even smaller requests. */
function sites(target: string, address: string, strictAddress: string): string {
	const site = (listen: string, limit: string) => `server {
		listen ${listen};
		${limit}
		location / {
			proxy_pass ${target};
			proxy_set_header Host $http_host;
		}
	}`;
	return site(address, '') + site(strictAddress, 'client_max_body_size 300k;');
}

test.serial('files of any size pass an nginx that accepts one megabyte, below a base path', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-nginx-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const [server, browser] = await Promise.all([
		startServer(t, { args: plainArgs(path.join(folder, 'data'), '--base-path', '/files') }),
		launchBrowser(),
	]);
	// The page is opened at the path that the server prints at its start.
	const { origin, pathname: below } = new URL(server.url);
	const [port, strictPort] = [await reservePort(), await reservePort()];
	const address = `127.0.0.1:${port}`;
	const nginx = await startNginx(address, sites(origin, address, `127.0.0.1:${strictPort}`));
	t.teardown(nginx.stop);

	const sizes = { 'note.bin': 900_000, 'song.bin': 1.5 * megabyte, 'film.bin': 9 * megabyte };
	for (const [name, size] of Object.entries(sizes)) await makeFile(path.join(folder, name), size);
	const tree = path.join(folder, 'data/files/users/anonymous/Public');
	const assertStored = async (name: string) => {
		t.is(await sha256(path.join(tree, name)), await sha256(path.join(folder, name)), name);
		await rm(path.join(tree, name));
	};

	const context = await browser.newContext({ reducedMotion: 'reduce' });
	t.teardown(() => context.close());
	await holdTimers(context, successMs);
	const responses: string[] = [];
	context.on('response', (response) => {
		const method = response.request().method();
		if (method === 'POST' || method === 'PATCH') responses.push(`${method} ${response.status()}`);
	});
	const { page, faults } = await openPage(context, `http://nas:${port}${below}/`);
	page.setDefaultTimeout(uploadTimeoutMs);
	for (const name of Object.keys(sizes)) {
		responses.length = 0;
		await page.setInputFiles('input[type=file]', path.join(folder, name));
		await page.getByRole('button', { name: 'Upload All' }).click();
		await waitForUpload(page);
		await assertStored(name);
		if (name === 'note.bin') t.deepEqual(responses, ['POST 200']);
		// The reduced chunk size is kept for the next file.
		if (name === 'song.bin') t.true(responses.includes('PATCH 413'), `${responses}`);
		if (name === 'film.bin') t.false(responses.includes('PATCH 413'), `${responses}`);
	}

	const strict = await openPage(context, `http://nas:${strictPort}${below}/`, faults);
	strict.page.setDefaultTimeout(uploadTimeoutMs);
	responses.length = 0;
	await strict.page.setInputFiles('input[type=file]', path.join(folder, 'note.bin'));
	await strict.page.getByRole('button', { name: 'Upload All' }).click();
	await waitForUpload(strict.page);
	await assertStored('note.bin');
	t.deepEqual(responses.slice(0, 2), ['POST 413', 'POST 201']);
	t.deepEqual(faults, []);
});
