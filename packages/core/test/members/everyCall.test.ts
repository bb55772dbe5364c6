import * as contract from '@stowage/contract';
import test from 'ava';
import { Client, field, file } from '../testApp.js';
import { create } from '../tusClient.js';
import { memberFixture } from './memberFixture.js';

interface Row {
	call(client: Client): Promise<{ statusCode: number }>;
	/** What a member who views, and one who edits, is answered. */
	view: number;
	edit: number;
	/** What everybody else is answered who has an account, and a visitor. */
	others?: number;
	visitor?: number;
}

const item = { path: 'Photos/fox.txt' };
const get = (url: string) => (client: Client) => client.get(url);
const post = (url: string, payload: object) => (client: Client) => client.post(url, { type: 'shared', ...payload });

/** Each call that takes the area of shared folders. */
const rows: Record<string, Row> = {
	'GET /api/browse': { call: get('/api/browse?type=shared&directory=Photos'), view: 200, edit: 200 },
	'GET /api/download/{path*}': { call: get('/api/download/Photos/fox.txt?type=shared'), view: 200, edit: 200 },
	'GET /api/thumbnail/{path*}': {
		call: get('/api/thumbnail/Photos/fox.txt?type=shared&size=256'),
		...{ view: 415, edit: 415 },
	},
	'GET /api/versions/{path*}': { call: get('/api/versions/Photos/fox.txt?type=shared'), view: 403, edit: 200 },
	'GET /api/members': { call: get('/api/members?path=Photos&type=shared'), view: 200, edit: 200 },
	'GET /api/events': {
		call: (client) => client.call('HEAD', '/api/events?type=shared&directory=Photos'),
		...{ view: 200, edit: 200 },
	},
	'POST /api/downloadZip': { call: post('/api/downloadZip', { files: [item], directory: '' }), view: 200, edit: 200 },
	'POST /api/downloadTickets': {
		call: post('/api/downloadTickets', { files: [item], directory: '' }),
		...{ view: 201, edit: 201 },
	},
	'POST /api/createFolder': {
		call: post('/api/createFolder', { directory: 'Photos', folderName: 'new' }),
		...{ view: 403, edit: 200 },
	},
	'POST /api/createFile': {
		call: post('/api/createFile', { directory: 'Photos', fileName: 'new.txt' }),
		...{ view: 403, edit: 200 },
	},
	'POST /api/renameItem': {
		call: post('/api/renameItem', { oldPath: item.path, newName: 'wolf.txt' }),
		...{ view: 403, edit: 200 },
	},
	'POST /api/moveItem': {
		call: post('/api/moveItem', { fromPath: item.path, toPath: 'Photos/2030/fox.txt' }),
		...{ view: 403, edit: 200 },
	},
	'POST /api/copyItem': {
		call: post('/api/copyItem', { fromPath: item.path, toPath: 'Photos/2030/fox.txt' }),
		...{ view: 403, edit: 200 },
	},
	'DELETE /api/deleteItem': {
		call: (client) => client.call('DELETE', '/api/deleteItem', { type: 'shared', filePath: item.path }),
		...{ view: 403, edit: 200 },
	},
	'POST /api/versions/restore': {
		// There is none: that is said to those alone who may know it.
		call: post('/api/versions/restore', { filePath: item.path, id: '0'.repeat(32) }),
		...{ view: 403, edit: 404 },
	},
	'POST /api/upload': {
		call: (client) =>
			client.upload('/api/upload', [field('type', 'shared'), field('directory', 'Photos'), file('new.txt', 'new')]),
		...{ view: 403, edit: 200 },
	},
	'POST /api/uploads': {
		call: (client) => create(client, 3, { type: 'shared', directory: 'Photos', filename: 'new.txt' }),
		...{ view: 403, edit: 201 },
	},
	// It is refused while it runs: `writing.test.ts`.
	'POST /api/jobs': {
		call: post('/api/jobs', { kind: 'copy', directory: 'Photos/2030', items: [item] }),
		...{ view: 202, edit: 202, others: 202 },
	},
	// Where they are turned on the file is opened as in a download.
	'POST /api/viewerLink': { call: post('/api/viewerLink', item), view: 403, edit: 403, others: 403, visitor: 403 },
	// Of a plugin that is not loaded here.
	'POST /api/handbrake/convert': {
		call: post('/api/handbrake/convert', {
			...{ filePath: item.path, outputFormat: 'mp4', quality: 20, deleteOriginal: false },
		}),
		...{ view: 503, edit: 503, others: 503 },
	},
};

/** Calls whose area is in a form or a header. */
const unparsed: readonly contract.AnyEndpoint[] = [contract.upload, contract.createUpload];

function takesShared({ query, payload }: contract.AnyEndpoint): boolean {
	return [query, payload].some((schema) => {
		const type = (schema as { shape?: Record<string, { safeParse(value: unknown): { success: boolean } }> } | undefined)
			?.shape?.type;
		return ['shared', 'private'].every((area) => type?.safeParse(area).success === true);
	});
}

const nameOf = ({ method, path }: contract.AnyEndpoint) => `${method} ${path}`;

test('each call of the contract that takes the area of shared folders has a row here', (t) => {
	const endpoints = Object.values(contract).filter(
		(value): value is contract.AnyEndpoint => typeof value === 'object' && 'method' in value && 'query' in value,
	);
	const taking = [...endpoints.filter(takesShared), ...unparsed].map(nameOf);
	t.true(taking.length > 15, 'the contract was read');
	t.deepEqual([...new Set(taking)].sort(), Object.keys(rows).sort());
});

for (const [name, { call, view, edit, others = 404, visitor = 401 }] of Object.entries(rows)) {
	test(`${name} is answered to members as their role says, and to nobody else`, async (t) => {
		const { app, ada, bob, carol, share } = await memberFixture(t);
		const [former, stranger] = [await new Client(app).register('dan'), await new Client(app).register('eve')];
		await share({ dan: 'edit' });
		await share({ bob: 'edit', carol: 'view' });
		t.is((await call(new Client(app))).statusCode, visitor, 'a visitor');
		for (const client of [former, stranger, ada]) t.is((await call(client)).statusCode, others);
		t.is((await call(carol)).statusCode, view, 'who views');
		t.is((await call(bob)).statusCode, edit, 'who edits');
		const { id } = await app.services.accounts.find('ada');
		await app.services.database.users.setDisabled(id, true);
		t.is((await call(bob)).statusCode, others, 'of a disabled owner');
	});
}
