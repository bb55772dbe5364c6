import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import * as contract from '@stowage/contract';
import test from 'ava';
import type { App } from '../../src/index.js';
import { Client, testApp } from '../testApp.js';

const names = [
	...[255, 256, 4096, 9000].map((length) => 'x'.repeat(length)),
	encodeURIComponent('é'.repeat(200)),
	encodeURIComponent('日'.repeat(86)),
	`${'x/'.repeat(2000)}x`,
	`${'x'.repeat(250)}/`.repeat(20),
	'9'.repeat(19),
	'9'.repeat(40),
	'-1',
	'1e400',
	'%00',
	'%2F',
	'%5C',
	'%F0%9F%92%A9'.repeat(100),
];

/** Endpoints of plugins that this server runs without: the contract answers them with 503. */
const absent = new Set(contract.optionalEndpoints.map(({ endpoint }) => endpoint));
const endpoints = Object.values(contract).filter(
	(value): value is contract.AnyEndpoint =>
		typeof value === 'object' && 'audience' in value && !absent.has(value as contract.AnyEndpoint),
);

/** The answer's status. Its body is not read, since it may be an endless stream. */
function statusOf(app: App, { cookie = '' }: Client, method: string, url: string): Promise<number> {
	const { hostname, port } = new URL(app.server.info.uri);
	return new Promise((resolve, reject) => {
		const headers = { cookie, 'tus-resumable': '1.0.0' };
		const sent = request({ hostname, port, path: url, method, agent: false, headers }, (answer) => {
			answer.destroy();
			resolve(answer.statusCode ?? 0);
		});
		sent.on('error', reject).end();
	});
}

test('long and unusual names in a URL never lead to a 5xx answer', async (t) => {
	const webRoot = await mkdtemp(path.join(os.tmpdir(), 'stowage-web-'));
	t.teardown(() => rm(webRoot, { recursive: true }));
	await mkdir(path.join(webRoot, 'assets'));
	await writeFile(path.join(webRoot, 'index.html'), '<p></p>');
	const app = await testApp(t, {}, { webRoot });
	const ada = await new Client(app).register('ada');
	const clients = [ada, new Client(app)];
	const withName = endpoints.filter(({ path }) => path.includes('{'));
	t.true(withName.length > 5);
	const calls = [
		...withName.map(({ method, path }) => [method, path.replace(/\{.*\}/, '{name}')]),
		...['/assets/{name}', '/browser/{name}', '/{name}', '/api/{name}', '/api/download/a/{name}/b'].map((url) => [
			'GET',
			url,
		]),
		...['/api/browse', '/api/browse/public', '/api/events'].flatMap((url) =>
			['private', 'public'].flatMap((type) => [
				['GET', `${url}?type=${type}&directory={name}`],
				['GET', `${url}?type=${type}&directory=&search={name}&owner={name}&ticket={name}`],
			]),
		),
	];
	for (const client of clients) {
		for (const [method = '', url = ''] of calls) {
			for (const name of names) {
				const statusCode = await statusOf(app, client, method, url.replaceAll('{name}', name));
				t.true(statusCode < 500, `${statusCode} ${method} ${url} ${name.slice(0, 40)}`);
				if (url === '/assets/{name}') t.true([400, 404].includes(statusCode), `${statusCode} ${name.slice(0, 40)}`);
			}
		}
	}
});
