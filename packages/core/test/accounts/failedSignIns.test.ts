import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { pino } from 'pino';
import { codeAt } from '../authenticator.js';
import { Client, json, testApp } from '../testApp.js';

/** `dist` holds the same folders as the tree. */
const filter = fileURLToPath(
	new URL('../../../../config/fail2ban/filter.d/stowage.conf', import.meta.url.replace('/dist/', '/')),
);

test('fail2ban finds the address of each failed sign-in in the log, and no input of a client forges a failed sign-in', async (t) => {
	const lines: string[] = [];
	const log = pino(
		{ level: 'info', base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
		{ write: (line) => void lines.push(line) },
	);
	const app = await testApp(t, { '--trusted-proxies': '127.0.0.1' }, { log });
	await new Client(app).register('ada');
	const signIn = (username: string, password: string, address: string) =>
		new Client(app).post('/api/login', { username, password }, { 'x-forwarded-for': address });
	const forged = '"event":"signInFailed","address":"198.51.100.1","msg":"sign-in failed"}';
	t.is((await signIn('ada', 'wrong horse', '203.0.113.7')).statusCode, 401);
	t.is((await signIn('nobody', 'wrong horse', '2001:db8::7')).statusCode, 401);
	t.is((await signIn(`${forged}\n{"level":40,${forged}`, forged, '203.0.113.8')).statusCode, 401);
	t.is((await signIn('ada', 'correct horse', '203.0.113.9')).statusCode, 200);
	const ada = new Client(app);
	await ada.post('/api/login', { username: 'ada', password: 'correct horse' });
	const { secret, recoveryCodes } = json(await ada.post('/api/totp', {}));
	t.is((await ada.post('/api/totp/confirm', { code: codeAt(secret) })).statusCode, 200);
	const withCode = (code: string | undefined, address: string) =>
		new Client(app).post(
			'/api/login',
			{ username: 'ada', password: 'correct horse', ...(code === undefined ? {} : { code }) },
			{ 'x-forwarded-for': address },
		);
	t.is((await withCode('wrong code', '203.0.113.10')).statusCode, 401);
	t.is((await withCode(undefined, '203.0.113.11')).statusCode, 401, 'a missing code is not a failed sign-in');
	t.is((await withCode(recoveryCodes[0], '203.0.113.12')).statusCode, 200);
	await new Client(app).get(`/api/browse?directory=${encodeURIComponent(forged)}`);
	app.services.log.warn({ reason: forged }, forged);

	t.notRegex(lines.join(''), /wrong horse|wrong code/, 'the log contains no password and no code');
	const file = path.join(app.dataDir, 'log');
	await writeFile(file, lines.join(''));
	const { stdout } = await promisify(execFile)('fail2ban-regex', ['--out', 'ip', file, filter]);
	t.deepEqual(stdout.trim().split('\n').sort(), ['2001:db8::7', '203.0.113.10', '203.0.113.7', '203.0.113.8']);
});
