import test, { type ExecutionContext } from 'ava';
import { ConfigError, loadConfig } from '../../src/index.js';
import { rawRequest } from '../rawRequest.js';
import { testApp } from '../testApp.js';

const hostFlags = {
	'--public-url': 'https://files.example.org/',
	'--allowed-hosts': 'nas.example.net, box.example:8443,*.example.com',
};

const answered = async (
	t: ExecutionContext,
	hosts: readonly string[],
	expected: 200 | 421,
	{ flags = hostFlags, headers = '' }: { flags?: Record<string, string>; headers?: string } = {},
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
	'requests to the hosts of publicUrl and allowedHosts are answered',
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
	'requests to IP addresses and local host names are answered',
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
	'requests to any other host are refused with a message that names the setting',
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
test('without both settings every host is answered', answered, ['evil.example', 'files.example.org'], 200, {
	flags: {},
});
test('a disallowed host forwarded by a trusted proxy is refused', answered, ['files.example.org', '127.0.0.1'], 421, {
	flags: { ...hostFlags, '--trusted-proxies': '127.0.0.1' },
	headers: 'X-Forwarded-Host: evil.example\r\n',
});
test('an allowed host forwarded by a trusted proxy is answered', answered, ['internal.proxy.example'], 200, {
	flags: { ...hostFlags, '--trusted-proxies': '127.0.0.1' },
	headers: 'X-Forwarded-Host: files.example.org\r\n',
});
test('a host forwarded by an untrusted client is ignored', answered, ['evil.example'], 421, {
	headers: 'X-Forwarded-Host: files.example.org\r\n',
});

test('an allowedHosts value that is not a host is refused', (t) => {
	for (const host of ['https://files.example.org', 'a b', 'a/b', '*', 'a:b', '*.']) {
		const error = t.throws(() => loadConfig({ flags: { '--allowed-hosts': host } }), { instanceOf: ConfigError }, host);
		t.regex(error?.message ?? '', /allowedHosts/);
	}
});
