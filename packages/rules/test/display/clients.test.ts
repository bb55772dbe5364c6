import test, { type ExecutionContext } from 'ava';
import { type ClientDescription, describeClient } from '../../src/index.js';

const described = (t: ExecutionContext, userAgent: string | null, name: string, kind: ClientDescription['kind']) => {
	t.deepEqual(describeClient(userAgent), { name, kind });
};

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';
const onIphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const onMac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const onWindows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';

test(
	'Firefox on Windows is recognized',
	described,
	`Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0`,
	'Firefox on Windows',
	'desktop',
);
test(
	'Chrome on Windows is recognized',
	described,
	`${onWindows} ${chrome} Safari/537.36`,
	'Chrome on Windows',
	'desktop',
);
test(
	'Edge on Windows is recognized',
	described,
	`${onWindows} ${chrome} Safari/537.36 Edg/142.0.0.0`,
	'Edge on Windows',
	'desktop',
);
test(
	'Opera on macOS is recognized',
	described,
	`${onMac} ${chrome} Safari/537.36 OPR/126.0.0.0`,
	'Opera on macOS',
	'desktop',
);
test(
	'Safari on macOS is recognized',
	described,
	`${onMac} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15`,
	'Safari on macOS',
	'desktop',
);
test(
	'Chrome on ChromeOS is recognized',
	described,
	`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`,
	'Chrome on ChromeOS',
	'desktop',
);
test(
	'Chrome on Linux is recognized',
	described,
	'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36',
	'Chrome on Linux',
	'desktop',
);
test(
	'Firefox on FreeBSD is recognized',
	described,
	'Mozilla/5.0 (X11; FreeBSD amd64; rv:145.0) Gecko/20100101 Firefox/145.0',
	'Firefox on FreeBSD',
	'desktop',
);
test(
	'Chrome on Android is recognized',
	described,
	`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`,
	'Chrome on Android',
	'mobile',
);
test(
	'Samsung Internet on Android is recognized',
	described,
	`Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`,
	'Samsung Internet on Android',
	'mobile',
);
test(
	'Firefox on Android is recognized',
	described,
	'Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0',
	'Firefox on Android',
	'mobile',
);
test(
	'Safari on iPhone is recognized',
	described,
	`${onIphone} Version/26.1 Mobile/15E148 Safari/604.1`,
	'Safari on iPhone',
	'mobile',
);
test(
	'Chrome on iPhone is recognized',
	described,
	`${onIphone} CriOS/142.0.7444.77 Mobile/15E148 Safari/604.1`,
	'Chrome on iPhone',
	'mobile',
);
test(
	'Firefox on iPhone is recognized',
	described,
	`${onIphone} FxiOS/145.0 Mobile/15E148 Safari/605.1.15`,
	'Firefox on iPhone',
	'mobile',
);
test(
	'a browser without a known name is named by its system',
	described,
	`${onIphone} Mobile/15E148`,
	'Unknown browser on iPhone',
	'mobile',
);
test(
	'Safari on iPad is recognized',
	described,
	'Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1',
	'Safari on iPad',
	'mobile',
);
test('the program curl is named as it names itself', described, 'curl/8.14.1', 'curl', 'program');
test(
	'the program python-requests is named as it names itself',
	described,
	'python-requests/2.32.5',
	'python-requests',
	'program',
);
test('the program node is named as it names itself', described, 'node', 'node', 'program');
test(
	'a client that names neither a program nor a system is unknown',
	described,
	'Mozilla/5.0',
	'Unknown client',
	'unknown',
);
test('a client that begins with no name is unknown', described, '<b>bold</b>', 'Unknown client', 'unknown');
test('a client with an overlong name is unknown', described, `${'x'.repeat(41)}/1.0`, 'Unknown client', 'unknown');
test('an empty user agent is unknown', described, '', 'Unknown client', 'unknown');
test('a client without a user agent is unknown', described, null, 'Unknown client', 'unknown');
