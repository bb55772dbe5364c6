import { mock } from 'node:test';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { pino } from 'pino';
import { createFailureLog } from '../../src/http/failureLog.js';
import { Client, testApp } from '../testApp.js';

/** A log and its lines. */
function recordingLog() {
	const lines: Record<string, unknown>[] = [];
	const log = pino(
		{ level: 'warn', base: undefined, timestamp: false },
		{ write: (line) => lines.push(JSON.parse(line)) },
	);
	return { log, lines };
}

test.serial('repeated refusals are one line for each kind and route, then a count every ten seconds', (t) => {
	mock.timers.enable({ apis: ['setTimeout'] });
	t.teardown(() => mock.timers.reset());
	const { log, lines } = recordingLog();
	const refuse = createFailureLog(log);
	const full = new Failure('storageFull', 'The disk is full.', { cause: new Error('ENOSPC: no space left') });
	const busy = new Failure('unavailable', 'Too busy.');
	for (let n = 0; n < 1000; n++) {
		refuse(full, { method: 'post', path: '/api/upload' });
		refuse(busy, { method: 'get', path: '/api/browse' });
	}
	refuse(full, { method: 'patch', path: '/api/uploads/{id}' });
	t.is(lines.length, 3);
	t.deepEqual(lines[0], {
		level: 40,
		code: 'STORAGE_FULL',
		method: 'post',
		path: '/api/upload',
		cause: 'ENOSPC: no space left',
		reason: 'The disk is full.',
		msg: 'request refused',
	});
	mock.timers.tick(10_000);
	t.deepEqual(
		lines.slice(3).map(({ msg, code, count }) => [msg, code, count]),
		[
			['request refused again', 'STORAGE_FULL', 999],
			['request refused again', 'UNAVAILABLE', 999],
		],
	);
	mock.timers.tick(100_000);
	t.is(lines.length, 5, 'no line without further refusals');
	refuse(busy, { method: 'get', path: '/api/browse' });
	t.is(lines.length, 6);
	t.is(lines[5]?.msg, 'request refused');
});

test('repeated 503 answers of a route are one log line without a stack', async (t) => {
	const { log, lines } = recordingLog();
	const app = await testApp(t, {}, { log });
	const ada = await new Client(app).register('ada');
	app.services.database.users.settings = () => Promise.reject(new Failure('unavailable', 'Not now.'));
	for (let n = 0; n < 20; n++) t.is((await ada.get('/api/checkLoginStatus')).statusCode, 503);
	const refused = lines.filter(({ msg }) => String(msg).startsWith('request refused'));
	t.is(refused.length, 1);
	t.is(refused[0]?.code, 'UNAVAILABLE');
	t.false(JSON.stringify(refused).includes('stack'));
});
