import * as contract from '@stowage/contract';

/** The bytes that are written on one connection, and how it ends. */
export interface Stream {
	/** Each is written by itself, so that the server reads them one by one. */
	packets: readonly Buffer[];
	/** `reset` and `end` follow the last packet at once; `wait` reads until the server has answered or closed. */
	ending: 'reset' | 'end' | 'wait';
	/** Whether the answers are read meanwhile. */
	isRead: boolean;
}

/** Without the endpoints of plugins that the server does not load: the contract has 503 for them. */
const absent = new Set(contract.optionalEndpoints.map(({ endpoint }) => endpoint));
const endpoints = Object.values(contract).filter(
	(value): value is contract.AnyEndpoint =>
		typeof value === 'object' && 'audience' in value && !absent.has(value as contract.AnyEndpoint),
);
const calls = [
	...endpoints.map(({ method, path }) => ({ method: method as string, path })),
	...['/', '/browser', '/browser/{path}', '/assets/{file}', '/nowhere', '*', 'http://x/api/health'].map((path) => ({
		method: 'GET',
		path,
	})),
];
const methods = [
	...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'MKCOL', 'M-SEARCH'],
	...['get', 'PRI', 'BREW', '', '\0'],
];
const names = ['a', 'a.txt', 'b/c', 'missing', '%00', '%', '..', '%2e%2e', 'é', 'x'.repeat(300), ''];
const bodies = [
	'',
	'{}',
	'[]',
	'{"username":"ada","password":"wrong guess"}',
	'{"settings":{"promptBeforeDownload":true}}',
	'{"directory":"","folderName":"b","type":"private"}',
	'{"filePath":"a.txt","type":"private"}',
	'{"fromPath":"a.txt","toPath":"b","type":"private"}',
	'{"oldPath":"a.txt","newName":"a.txt","type":"private"}',
	'{"files":[{"path":"a.txt"}],"type":"private","directory":""}',
	'{"filePath":"a.txt","expiration":"1h"}',
	`{"username":"${'x'.repeat(70_000)}"}`,
	'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--b--\r\n',
	'--b\r\nContent-Disposition: form-data; name="directory"\r\n\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nte',
	'--b\r\nnonsense\r\n\r\n--b--',
	'\0\xff'.repeat(100),
];
const oddHeaders = [
	'Connection: close',
	'Connection: close',
	'Connection: keep-alive',
	'Connection: upgrade\r\nUpgrade: websocket',
	'Connection: upgrade\r\nUpgrade: h2c',
	'Expect: 100-continue',
	'Expect: the-unexpected',
	'X-HTTP-Method-Override: PATCH',
	'X-HTTP-Method-Override: HEAD',
	'Tus-Resumable: 1.0.0',
	'Tus-Resumable: 1.0.0\r\nUpload-Length: 4\r\nUpload-Metadata: filename YQ==,type cHVibGlj',
	'Tus-Resumable: 1.0.0\r\nUpload-Offset: 0',
	'Upload-Checksum: sha256 AAAA',
	'Stowage-Upload-Key: 0123456789abcdefghijklmnop',
	'Range: bytes=0-0',
	'Range: bytes=5-1,-0,9999999999999999999-',
	'If-None-Match: *',
	'If-Match: "x"',
	'Accept-Encoding: gzip, deflate, br, *;q=0',
	'Accept: text/html',
	'Origin: http://evil.example',
	'Sec-Fetch-Site: cross-site',
	'X-Forwarded-For: unknown, 1.2.3.4:5',
	'Cookie: sid=nonsense; =; a',
	'Content-Encoding: gzip',
	': no name',
	'No colon',
	' folded: x',
	'Bad\0: x',
	`Long: ${'x'.repeat(40_000)}`,
];
const framings = [
	'none',
	'length',
	'length',
	'length',
	'chunked',
	'chunked',
	'chunked',
	'tooLong',
	'tooShort',
	'twoLengths',
	'both',
	'badLength',
	'badChunk',
	'badSize',
	'unknownCoding',
	'noEnd',
] as const;

type Next = () => number;
const pick = <T>(next: Next, values: readonly T[]): T => values[Math.floor(next() * values.length)] as T;

function chunked(next: Next, body: string): string {
	let text = '';
	for (let at = 0; at < body.length; ) {
		const size = 1 + Math.floor(next() * Math.min(body.length - at, 50_000));
		const extension = next() < 0.05 ? ';name="value"' : '';
		text += `${size.toString(16)}${extension}\r\n${body.slice(at, at + size)}\r\n`;
		at += size;
	}
	return `${text}0\r\n${next() < 0.1 ? 'Trailer: x\r\n' : ''}\r\n`;
}

/** Headers with the length of the body, and the body, which sometimes differs. */
function framed(next: Next, framing: (typeof framings)[number], body: string): [header: string, body: string] {
	const length = (bytes: number | string) => `Content-Length: ${bytes}\r\n`;
	const coding = 'Transfer-Encoding: chunked\r\n';
	switch (framing) {
		case 'none':
			return ['', ''];
		case 'length':
			return [length(body.length), body];
		case 'tooLong':
			return [length(body.length + Math.floor(next() * 100)), body];
		case 'tooShort':
			return [length(Math.floor(next() * body.length)), body];
		case 'twoLengths':
			return [length(body.length) + length(body.length + 1), body];
		case 'both':
			return [length(body.length) + coding, chunked(next, body)];
		case 'badLength':
			return [length(pick(next, ['-1', '+1', '0x10', '1e3', '9'.repeat(30), '', '1, 2'])), body];
		case 'chunked':
			return [coding, chunked(next, body)];
		case 'badChunk':
			return [coding, `${body.length.toString(16)}\r\n${body}xx\r\n0\r\n\r\n`];
		case 'badSize':
			return [coding, `${pick(next, ['zz', '-1', 'f'.repeat(20), '', ' 5', '0x5'])}\r\n${body}\r\n0\r\n\r\n`];
		case 'unknownCoding':
			return [
				pick(next, ['Transfer-Encoding: gzip\r\n', `Transfer-Encoding: chunked, gzip\r\n`, coding + coding]),
				body,
			];
		case 'noEnd':
			return [coding, chunked(next, body).slice(0, -2)];
	}
}

function request(next: Next, cookie: string): string {
	const call = pick(next, calls);
	const method = next() < 0.85 ? call.method : pick(next, methods);
	const name = pick(next, names);
	const path = call.path.replace(/\{[^}]*\}/, name);
	const query = next() < 0.5 ? `?type=${pick(next, ['private', 'public', 'x'])}&directory=${name}` : '';
	const version = pick(next, ['1.1', '1.1', '1.1', '1.1', '1.1', '1.1', '1.1', '1.0', '2.0', '0.9']);
	const mostly = (text: string, part = 0.95) => (next() < part ? text : '');
	const type = pick(next, [
		'application/json',
		'application/json',
		'multipart/form-data; boundary=b',
		'application/offset+octet-stream',
	]);
	const [framing, body] = framed(next, pick(next, framings), pick(next, bodies));
	const odd = Array.from({ length: Math.floor(next() * 3) }, () => `${pick(next, oddHeaders)}\r\n`).join('');
	const sender = call.path.endsWith('/logout') ? '' : mostly(`Cookie: ${cookie}\r\n`, 0.6);
	return `${method} ${path}${query} HTTP/${version}\r\n${mostly('Host: x\r\n')}Content-Type: ${type}\r\n${sender}${odd}${framing}\r\n${body}`;
}

/** Changes, removes or doubles a few bytes. */
function damaged(next: Next, text: string): string {
	let changed = text;
	for (let times = Math.floor(next() * 4); times >= 0; times--) {
		const at = Math.floor(next() * changed.length);
		const instead = pick(next, ['', '\r', '\n', '\0', ' ', ':', '\x80', changed.slice(at, at + 20)]);
		changed = changed.slice(0, at) + instead + changed.slice(at + (next() < 0.5 ? 1 : 0));
	}
	return changed;
}

function inPackets(text: string, cuts: readonly number[]): Buffer[] {
	const bytes = Buffer.from(text, 'latin1');
	const edges = [0, ...cuts.map((cut) => Math.floor(cut)).sort((a, b) => a - b), bytes.length];
	return edges.slice(1).flatMap((end, at) => {
		const packet = bytes.subarray(edges[at] ?? 0, end);
		return packet.length === 0 ? [] : [packet];
	});
}

/** Any stream, the same for the same numbers. */
export function randomStream(next: Next, cookie: string): Stream {
	const count = next() < 0.5 ? 1 : next() < 0.9 ? 1 + Math.floor(next() * 6) : 1 + Math.floor(next() * 60);
	let text = Array.from({ length: count }, () => request(next, cookie)).join('');
	if (next() < 0.2) text = damaged(next, text);
	if (next() < 0.3) text = text.slice(0, Math.floor(next() * text.length) + 1);
	const cuts = Array.from({ length: Math.floor(next() * 4) }, () => next() * text.length);
	return {
		packets: inPackets(text, cuts),
		ending: pick(next, ['reset', 'end', 'wait', 'wait']),
		isRead: next() < 0.8,
	};
}

/** Streams that are cut at each of their bytes: once into two packets, once at the end. */
function sweptTexts(cookie: string): string[] {
	const head = (line: string, headers: string) => `${line} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n${headers}\r\n`;
	const json = '{"directory":"","folderName":"b","type":"private"}';
	const type = 'Content-Type: application/json\r\n';
	const form = bodies[12] ?? '';
	const behind = head('GET /api/health', '');
	return [
		`${head('POST /api/login', `${type}Transfer-Encoding: chunked\r\nConnection: close\r\n`)}2\r\n{}\r\n0\r\n\r\n${behind}`,
		`${head('POST /api/createFolder', `${type}Content-Length: ${json.length}\r\n`)}${json}${behind}NONSENSE\r\n\r\n`,
		`${head('POST /api/upload?type=private', `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${form.length}\r\n`)}${form}${behind}`,
		`${head('POST /api/upload/public', `Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n`)}${form.length.toString(16)}\r\n${form}\r\n0\r\n\r\n`,
		`${head('POST /api/uploads', 'Tus-Resumable: 1.0.0\r\nUpload-Length: 4\r\nUpload-Metadata: filename YQ==,type cHVibGlj\r\nContent-Type: application/offset+octet-stream\r\nExpect: 100-continue\r\nContent-Length: 4\r\n')}four${behind}`,
		`${head('GET /api/download/a.txt?type=private', 'Range: bytes=0-1\r\n')}${head('HEAD /api/browse?type=private&directory=', '')}${behind}zz`,
		`${head('GET /api/browse?type=private&directory=', 'Connection: close\r\n')}${behind}`,
	];
}

export interface Sweep {
	count: number;
	stream(index: number): Stream;
}

export function sweep(cookie: string): Sweep {
	const all = sweptTexts(cookie).flatMap((text) =>
		Array.from({ length: text.length - 1 }, (_, at) => [
			{ packets: inPackets(text, [at + 1]), ending: 'wait', isRead: true } as const,
			{ packets: inPackets(text.slice(0, at + 1), []), ending: at % 2 === 0 ? 'reset' : 'end', isRead: true } as const,
		]).flat(),
	);
	return { count: all.length, stream: (index) => all[index % all.length] as Stream };
}
