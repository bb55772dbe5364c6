import { once } from 'node:events';
import { access, mkdir, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { StorageEntry } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { memberFixture } from '../members/memberFixture.js';
import { isChange, openEvents } from '../openEvents.js';
import { Client, field, file, json, type TestApp } from '../testApp.js';
import { until } from '../until.js';

/** More than the buffers of a connection, and than a client takes that reads its first bytes only. */
const size = 2 * 1024 ** 3;

const setUp = async (t: ExecutionContext, flags: Record<string, string> = {}) => {
	const fixture = await memberFixture(t, flags);
	const { home } = fixture;
	await mkdir(home('large'));
	await writeFile(home('large/movie.bin'), 'a movie');
	await truncate(home('large/movie.bin'), size);
	await fixture.share({ bob: 'edit' }, 'large');
	return fixture;
};

/** Begins a download of which the first bytes are read, and no more until it is ended. */
async function begin(app: TestApp, url: string, client?: Client): Promise<IncomingMessage> {
	const { hostname, port } = new URL(app.server.info.uri);
	const headers = client?.cookie === undefined ? {} : { cookie: client.cookie };
	const sent = request({ hostname, port, path: url, agent: false, headers });
	sent.end();
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	await once(answer, 'readable');
	answer.read(1);
	return answer;
}

/** Waits until the server has closed all connections, of which one sends the answer. */
async function isBrokenOff(t: ExecutionContext, { server }: TestApp, answer: IncomingMessage): Promise<void> {
	t.is(answer.statusCode, 200);
	await until(
		'the server has ended it',
		() =>
			new Promise<boolean>((resolve, reject) => {
				server.listener.getConnections((error, count) => (error ? reject(error) : resolve(count === 0)));
			}),
	);
	const error = await t.throwsAsync(buffer(answer));
	t.is((error as NodeJS.ErrnoException).code, 'ECONNRESET');
}

const downloads: Record<string, string> = {
	'a file': '/api/download/large/movie.bin?type=private',
	'a folder': '/api/download/large?type=private',
};
for (const [name, path] of Object.entries(downloads)) {
	test(`the download of ${name} ends with the session`, async (t) => {
		const { app, ada } = await setUp(t);
		const answer = await begin(app, path, ada);
		await ada.get('/api/logout');
		await isBrokenOff(t, app, answer);
	});
}

/** As a reload of the configuration does. */
const change = ({ services }: TestApp, settings: { visitors?: 'off' | 'read'; externalViewers?: boolean }) =>
	Object.assign(services.config, settings);

/** What visitors can see: a large file in a folder. */
const publish = async ({ filesDir }: TestApp) => {
	const folder = path.join(filesDir, 'Public/large');
	await mkdir(folder);
	await writeFile(path.join(folder, 'movie.bin'), 'a movie');
	await writeFile(path.join(folder, 'report.docx'), 'a report');
	await truncate(path.join(folder, 'movie.bin'), size);
	return folder;
};

const ticketOf = async (client: Client, name: string) => {
	const selection = { files: [{ path: name, owner: null }], type: 'public', directory: '' };
	return json(await client.post('/api/downloadTickets', selection)).url as string;
};

/** A link by which a viewer fetches a document that has become large since. */
const viewerLinkOf = async (client: Client, folder: string) => {
	const { url } = json(
		await client.post('/api/viewerLink', { path: 'large/report.docx', type: 'public', owner: null }),
	);
	await truncate(path.join(folder, 'report.docx'), size);
	return url.replace('https://files.example.org', '') as string;
};

const downloadsOfVisitors: Record<string, (client: Client, folder: string) => Promise<string>> = {
	'a file': async () => '/api/download/large/movie.bin?type=public&owner=',
	'a folder': async () => '/api/download/large?type=public&owner=',
	'a ticket of a file': (client) => ticketOf(client, 'large/movie.bin'),
	'a ticket of a folder': (client) => ticketOf(client, 'large'),
	'a document in an external viewer': viewerLinkOf,
};
const viewersOn = { '--external-viewers': 'true', '--public-url': 'https://files.example.org' };
for (const [name, prepare] of Object.entries(downloadsOfVisitors)) {
	test(`the download of ${name} by a visitor ends once visitors may not read`, async (t) => {
		const { app, ada } = await setUp(t, viewersOn);
		const url = await prepare(new Client(app), await publish(app));
		const answer = await begin(app, url);
		const ofAda = await begin(app, '/api/download/large/movie.bin?type=public&owner=', ada);
		change(app, { visitors: 'off' });
		await t.notThrowsAsync(isCutOff(answer));
		t.false(ofAda.errored || ofAda.destroyed, 'that of a user goes on');
		ofAda.destroy();
	});
}

test('what an external viewer is being sent ends once there are none', async (t) => {
	const { app, ada } = await setUp(t, viewersOn);
	const answer = await begin(app, await viewerLinkOf(ada, await publish(app)));
	change(app, { externalViewers: false });
	await isBrokenOff(t, app, answer);
});

test('a ticket of a visitor for which much is read is not made once visitors may not read', async (t) => {
	const { app } = await setUp(t);
	await publish(app);
	const reading = makeSlowWalk(app);
	const making = new Client(app).post('/api/downloadTickets', {
		files: [{ path: 'large', owner: null }],
		type: 'public',
		directory: '',
	});
	const refused = t.throwsAsync(making, { code: 'ECONNRESET' });
	await until('it is under way', () => reading.readers > 0);
	change(app, { visitors: 'off' });
	await refused;
	await until('nothing of it goes on', () => reading.readers === 0);
});

test('the event stream of a visitor ends once visitors may not read, also where nothing changes', async (t) => {
	const { app, ada } = await setUp(t);
	const streams = [
		await openEvents(app, '?type=public&directory='),
		await openEvents(app, '?type=public&directory=', ada.cookie),
	];
	for (const stream of streams) await stream.quiet();
	change(app, { visitors: 'off' });
	await streams[0]?.ended();
	await writeFile(path.join(app.filesDir, 'Public/new.txt'), 'new');
	await streams[1]?.next(isChange);
	streams[1]?.close();
	t.pass();
});

const boundary = 'b';
const beginning = (name: string) =>
	`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\nbegun`;
const sent: Record<
	string,
	(client: Client) => Promise<{ method: string; path: string; headers: object; body: string }>
> = {
	async 'a form'() {
		const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
		return { method: 'POST', path: '/api/upload', headers, body: beginning('late.bin') };
	},
	async 'a chunk of an upload'(client) {
		const headers = {
			'tus-resumable': '1.0.0',
			'upload-length': '100',
			'upload-metadata': `filename ${btoa('late.bin')}`,
		};
		const { headers: made } = await client.call('POST', '/api/uploads', undefined, headers);
		return {
			...{ method: 'PATCH', path: made.location as string, body: 'begun' },
			headers: {
				...{ 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-length': '100' },
				'content-type': 'application/offset+octet-stream',
			},
		};
	},
	async 'a call'() {
		const headers = { 'content-type': 'application/json' };
		return { method: 'POST', path: '/api/createFile', headers, body: '{"directory": "", "fileName": "late.bin", ' };
	},
};
for (const [name, prepare] of Object.entries(sent)) {
	test(`what arrives of ${name} is broken off with the session, and has no effect`, async (t) => {
		const { app, ada, home } = await setUp(t);
		const { hostname, port } = new URL(app.server.info.uri);
		const { body, headers, ...call } = await prepare(ada);
		const begun = request({ hostname, port, ...call, agent: false, headers: { ...headers, cookie: ada.cookie } });
		const arrived = once(app.server.listener, 'request');
		begun.write(body);
		await arrived;
		const broken = once(begun, 'response').then(
			() => 'answered',
			(error: NodeJS.ErrnoException) => error.code,
		);
		// A session that ends before its request is looked at is refused at once.
		await until('its body is read', async () => app.services.sessions.subscribers() > 0);
		await ada.get('/api/logout');
		t.is(await broken, 'ECONNRESET');
		await t.throwsAsync(access(home('late.bin')), { code: 'ENOENT' });
	});
}

/** More than is kept back of what arrives. */
const half = 'b'.repeat(300_000);
const sentByVisitors: Record<string, (client: Client) => Promise<{ path: string; headers: object; body: string }>> = {
	async 'a form'() {
		const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
		return { path: '/api/upload/public', headers, body: beginning('late.bin') + half };
	},
	async 'an upload'() {
		const headers = {
			...{ 'tus-resumable': '1.0.0', 'upload-length': `${2 * half.length}`, 'content-length': `${2 * half.length}` },
			'upload-metadata': `filename ${btoa('late.bin')},type ${btoa('public')}`,
			'content-type': 'application/offset+octet-stream',
		};
		return { path: '/api/uploads', headers, body: half };
	},
};
for (const [name, prepare] of Object.entries(sentByVisitors)) {
	for (const visitors of ['off', 'read'] as const) {
		test(`what arrives of ${name} of a visitor is broken off with visitors: ${visitors}, and that of others is not`, async (t) => {
			const { app, ada } = await setUp(t);
			const { hostname, port } = new URL(app.server.info.uri);
			const folder = path.join(app.filesDir, '.stowage/staging');
			const staged = async () => {
				// One may be removed meanwhile.
				const sizeOf = (name: string) =>
					stat(path.join(folder, name)).then(
						({ size: bytes }) => bytes,
						() => 0,
					);
				const sizes = await Promise.all((await readdir(folder)).map(sizeOf));
				return sizes.filter((bytes) => bytes > half.length / 2).length;
			};
			const { body, headers, path: url } = await prepare(new Client(app));
			const begin = (cookie: object) => {
				const begun = request({
					hostname,
					port,
					path: url,
					method: 'POST',
					agent: false,
					headers: { ...headers, ...cookie },
				});
				begun.write(body);
				return begun;
			};
			const [ofVisitor, ofAda] = [begin({}), begin({ cookie: ada.cookie })];
			const broken = once(ofVisitor, 'response').then(
				() => 'answered',
				(error: NodeJS.ErrnoException) => error.code,
			);
			const answered = once(ofAda, 'response');
			await until('both arrive', async () => (await staged()) === 2);
			change(app, { visitors });
			t.is(await broken, 'ECONNRESET');
			if (name === 'a form') await until('its bytes are removed', async () => (await staged()) === 1);
			ofAda.end(name === 'a form' ? `\r\n--${boundary}--\r\n` : half);
			const [answer] = (await answered) as [IncomingMessage];
			t.true(answer.statusCode === 200 || answer.statusCode === 201, `${answer.statusCode}`);
			answer.resume();
		});
	}
}

for (const target of ['large/movie.bin', 'large']) {
	const linked = async (t: ExecutionContext) => {
		const fixture = await setUp(t);
		const link = { filePath: target, expiration: '1h' };
		const { token } = json(await fixture.ada.post('/api/generateTempLink', link));
		return { ...fixture, answer: await begin(fixture.app, `/api/temp/${token}`) };
	};

	test(`what a temporary link to ${target} sends ends when it is revoked`, async (t) => {
		const { app, ada, answer } = await linked(t);
		const [{ id }] = json(await ada.get('/api/links'));
		await ada.call('DELETE', `/api/links/${id}`);
		await isBrokenOff(t, app, answer);
	});

	test(`what a temporary link to ${target} sends ends when its owner is disabled`, async (t) => {
		const { app, answer } = await linked(t);
		await app.services.accounts.setDisabled('ada', true);
		await isBrokenOff(t, app, answer);
	});
}

test('what a temporary link sends ends when its item is deleted', async (t) => {
	const { app, ada } = await setUp(t);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'large/movie.bin', expiration: '1h' }));
	const answer = await begin(app, `/api/temp/${token}`);
	await ada.call('DELETE', '/api/deleteItem', { filePath: 'large', type: 'private' });
	await isBrokenOff(t, app, answer);
});

/** A member downloads a former content of the file, until `end`. */
const versionEnds = async (
	t: ExecutionContext,
	end: (fixture: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>,
) => {
	const fixture = await setUp(t);
	const { app, ada, bob } = fixture;
	const fields = [field('type', 'private'), field('directory', 'large'), field('onConflict', 'replace')];
	await ada.upload('/api/upload', [...fields, file('movie.bin', 'another')]);
	const { versions } = json(await bob.get('/api/versions/large/movie.bin?type=shared'));
	const path = `/api/download/large/movie.bin?type=shared&version=${versions[0].id}`;
	const answer = await begin(app, path, bob);
	await end(fixture);
	// What is on its way to the client is read, and nothing after it.
	const error = await t.throwsAsync(buffer(answer));
	t.is((error as NodeJS.ErrnoException).code, 'ECONNRESET');
};
test('a member gets no more of a former content once they may not edit', versionEnds, async ({ app, share }) => {
	await share({ bob: 'view' }, 'large');
	await until('it is known', () => app.services.sharedFolders.held.count === 0);
});
test('a member gets no more of a former content once they are disabled', versionEnds, async ({ app }) => {
	await app.services.accounts.setDisabled('bob', true);
	await until('it is known', () => app.services.sharedFolders.held.count === 0);
});

/** Gives each folder rows without end. Says how many readers there are. */
function makeEndless({ services }: TestApp): { readers: number } {
	const reading = { readers: 0 };
	services.roots.first.storage.list = async function* () {
		reading.readers++;
		try {
			for (let batch = 0; ; batch++)
				yield Array.from(
					{ length: 2000 },
					(_, at): StorageEntry => ({
						...{ name: `row ${batch} ${at}`, type: 'file', size: 1, mtime: 1 },
					}),
				);
		} finally {
			reading.readers--;
		}
	};
	return reading;
}

/** Lets each walk through a folder go on for ever. Says how many there are. */
function makeSlowWalk({ services }: TestApp): { readers: number } {
	const reading = { readers: 0 };
	const listWithStats = async function* () {
		reading.readers++;
		try {
			for (;;) {
				await wait(10);
				yield { items: [], skipped: 0 };
			}
		} finally {
			reading.readers--;
		}
	};
	Object.assign(services.roots.first.storage, { listWithStats });
	return reading;
}

type Fixture = Awaited<ReturnType<typeof setUp>>;

/** What shows names, to whom, and what ends that. */
interface Shown {
	path: string;
	client?: Client;
	end(): Promise<unknown>;
}

const sharedBy = async ({ ada }: Fixture) => {
	const { id, url } = json(await ada.post('/api/shares', { items: [{ path: 'large' }], mode: 'view' }));
	return { id: id as string, base: `/api/share/${url.split('/').at(-1)}` };
};
const shown: Record<string, (fixture: Fixture) => Promise<Shown>> = {
	'a folder ends with the session': async ({ ada }) => ({
		...{ path: '/api/browse?type=private&directory=large', client: ada },
		end: () => ada.get('/api/logout'),
	}),
	'a folder ends once its user is disabled': async ({ app, ada }) => ({
		...{ path: '/api/browse?type=private&directory=large', client: ada },
		end: () => app.services.accounts.setDisabled('ada', true),
	}),
	'a folder of somebody else ends with the role of the member': async ({ bob, share }) => ({
		...{ path: '/api/browse?type=shared&directory=large', client: bob },
		end: () => share({}, 'large'),
	}),
	'the public area ends once visitors may not read': async ({ app }) => {
		await publish(app);
		return {
			path: '/api/browse/public?directory=large',
			end: async () => change(app, { visitors: 'off' }),
		};
	},
	'what visitors would see ends with the session': async ({ app, ada }) => {
		await publish(app);
		return { ...{ path: '/api/browse/public?directory=large', client: ada }, end: () => ada.get('/api/logout') };
	},
	'a share ends with the share': async (fixture) => {
		const { id, base } = await sharedBy(fixture);
		return { path: `${base}/browse?directory=`, end: () => fixture.ada.call('DELETE', `/api/shares/${id}`) };
	},
};

/** What is on its way to the client is read, and nothing after it. */
const isCutOff = async (answer: IncomingMessage) => {
	let isBroken = false;
	answer.once('error', () => {
		isBroken = true;
	});
	const read = () => {
		answer.read();
		return isBroken;
	};
	await until('it is broken off', read, 60_000);
};

for (const [name, prepare] of Object.entries(shown)) {
	test(`the list of ${name}`, async (t) => {
		const fixture = await setUp(t);
		const { path, client, end } = await prepare(fixture);
		makeEndless(fixture.app);
		const answer = await begin(fixture.app, path, client);
		t.teardown(() => void answer.destroy());
		await end();
		await t.notThrowsAsync(isCutOff(answer));
	});

	test(`a search in ${name}`, async (t) => {
		const fixture = await setUp(t, { '--search-index': 'false' });
		const { app } = fixture;
		const { path, client, end } = await prepare(fixture);
		const reading = makeEndless(app);
		const { hostname, port } = new URL(app.server.info.uri);
		const headers = client?.cookie === undefined ? {} : { cookie: client.cookie };
		const asked = request({ hostname, port, path: `${path}&search=row`, agent: false, headers }).end();
		t.teardown(() => void asked.destroy());
		const answered = once(asked, 'response').then(
			([answer]) => (answer as IncomingMessage).statusCode,
			(error: NodeJS.ErrnoException) => error.code,
		);
		await until('it is under way', () => reading.readers > 0);
		await end();
		const outcome = await Promise.race([answered, wait(60_000, 'no end', { ref: false })]);
		t.is(outcome, path.includes('type=shared') ? 404 : 'ECONNRESET');
	});
}

test('what is shown first of a share ends once that has another password', async (t) => {
	const fixture = await setUp(t);
	const { id, base } = await sharedBy(fixture);
	makeEndless(fixture.app);
	const answer = await begin(fixture.app, base);
	t.teardown(() => void answer.destroy());
	await fixture.ada.call('PATCH', `/api/shares/${id}`, { password: 'very secret' });
	await t.notThrowsAsync(isCutOff(answer));
});

const endings: Record<string, (fixture: Fixture, ticket: string) => Promise<unknown>> = {
	'the session': ({ ada }) => ada.get('/api/logout'),
	'its ticket': ({ ada }, ticket) => ada.call('DELETE', ticket),
};
for (const [name, end] of Object.entries(endings)) {
	test(`a ZIP that takes long to make is not made to its end once ${name} has ended`, async (t) => {
		const fixture = await setUp(t);
		const { app, ada } = fixture;
		const files = [{ path: 'large' }];
		const { url } = json(await ada.post('/api/downloadTickets', { files, type: 'private', directory: '' }));
		const reading = makeSlowWalk(app);
		const { hostname, port } = new URL(app.server.info.uri);
		const asked = request({ hostname, port, path: url, agent: false }).end();
		t.teardown(() => void asked.destroy());
		const answered = once(asked, 'response').then(
			() => 'answered',
			(error: NodeJS.ErrnoException) => error.code,
		);
		await until('it is under way', () => reading.readers > 0);
		await end(fixture, url);
		t.is(await Promise.race([answered, wait(60_000, 'no end', { ref: false })]), 'ECONNRESET');
		await until('nothing of it goes on', () => reading.readers === 0);
	});
}
