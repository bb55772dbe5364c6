import test, { type ExecutionContext } from 'ava';
import { ConfigError, loadConfig } from '../../src/index.js';
import { rawRequest } from '../rawRequest.js';
import { testApp } from '../testApp.js';

const ours = {
	'--public-url': 'https://files.example.org/',
	'--allowed-hosts': 'nas.example.net, box.example:8443,*.example.com',
};

const answered = async (
	t: ExecutionContext,
	hosts: readonly string[],
	expected: 200 | 421,
	{ flags = ours, headers = '' }: { flags?: Record<string, string>; headers?: string } = {},
) => {
	const app = await testApp(t, flags);
	for (const host of hosts) {
		const { status, text } = await rawRequest(
			app,
			`GET /api/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`,
		);
		t.is(status, expected, host);
		if (expected === 421) t.regex(text, /"code":"MISDIRECTED".*allowedHosts/);
	}
};

test(
	'the names of publicUrl and allowedHosts are answered',
	answered,
	[
		'files.example.org',
		'FILES.example.org:8080',
		'files.example.org.',
		'nas.example.net:1',
		'box.example:8443',
		'a.b.example.com',
	],
	200,
);
test(
	'addresses and names that public DNS does not know are answered',
	answered,
	[
		'127.0.0.1',
		'192.168.1.5:7420',
		'[::1]:7420',
		'[2001:db8::1]',
		'localhost:7420',
		'nas',
		'nas.local',
		'nas.lan',
		'a.home.arpa',
		'x.internal',
		'y.localhost',
	],
	200,
);
test(
	'any other name is refused by a sentence that names the setting',
	answered,
	[
		'evil.example',
		'example.org',
		'files.example.org.evil.example',
		'example.com',
		'notexample.com',
		'box.example',
		'box.example:80',
		'127.0.0.1.evil.example',
		'local.evil.example',
		'evil.example@127.0.0.1',
		'evil.example/@127.0.0.1',
	],
	421,
);
test('without either setting every name is answered', answered, ['evil.example', 'files.example.org'], 200, {
	flags: {},
});
test('the host that a trusted proxy was asked for counts', answered, ['files.example.org', '127.0.0.1'], 421, {
	flags: { ...ours, '--trusted-proxies': '127.0.0.1' },
	headers: 'X-Forwarded-Host: evil.example\r\n',
});
test('the host that a trusted proxy was asked for is answered', answered, ['internal.proxy.example'], 200, {
	flags: { ...ours, '--trusted-proxies': '127.0.0.1' },
	headers: 'X-Forwarded-Host: files.example.org\r\n',
});
test('what others say of a forwarded host counts for nothing', answered, ['evil.example'], 421, {
	headers: 'X-Forwarded-Host: files.example.org\r\n',
});

test('a setting that is no host is refused', (t) => {
	for (const host of ['https://files.example.org', 'a b', 'a/b', '*', 'a:b', '*.']) {
		const error = t.throws(() => loadConfig({ flags: { '--allowed-hosts': host } }), { instanceOf: ConfigError }, host);
		t.regex(error?.message ?? '', /allowedHosts/);
	}
});
