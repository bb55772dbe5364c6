import './auth.test.js';
import { readFile } from 'node:fs/promises';
import { plugin } from '@stowage/auth-password';
import type { AuthProvider, Server } from '@stowage/plugin-api';
import test from 'ava';

test('the plugin has the name and version of its package', async (t) => {
	const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
	t.is(plugin.name, manifest.name);
	t.is(plugin.version, manifest.version);
});

test('the default parameters are 32,768 KiB, 3 iterations and 1 lane', (t) => {
	t.deepEqual(plugin.options.parse({}), { memoryKiB: 32_768, iterations: 3, parallelism: 1 });
});

for (const options of [
	{ memoryKiB: 1024 },
	{ iterations: 1 },
	{ parallelism: 0 },
	{ memoryKiB: 32_768.5 },
	{ memoryKiB: '32768' },
	{ memory: 32_768 },
]) {
	test(`the options ${JSON.stringify(options)} are refused`, (t) => {
		t.false(plugin.options.safeParse(options).success);
	});
}

test('the plugin offers its provider as `password`', async (t) => {
	const offered = new Map<string, AuthProvider>();
	const auth = { register: (name: string, provider: AuthProvider) => offered.set(name, provider) };
	await plugin.start({ providers: { auth }, ext() {} } as unknown as Server, plugin.options.parse({}));
	const provider = offered.get('password');
	const secret = (await provider?.hash('correct horse')) ?? '';
	t.regex(secret, /^\$argon2id\$v=19\$m=32768,t=3,p=1\$/);
	t.true(await provider?.verify(secret, 'correct horse'));
});
