import hapi from '@hapi/hapi';
import test from 'ava';
import { checkEqualRoutesOnce } from '../../src/http/routeSettings.js';

/** The settings of routes with these options, of a server for each, without what hapi shares between routes. */
function settingsOf(options: hapi.RouteOptions[]) {
	return options.map((each, at) => {
		const server = hapi.server({ routes: { cors: false, timeout: { server: false } } });
		server.route({ method: 'POST', path: `/${at}`, options: each, handler: () => '' });
		const { app, ...settings } = server.match('post', `/${at}`)?.settings ?? {};
		return { app, settings: JSON.parse(JSON.stringify(settings)) as unknown };
	});
}

test('routes with equal options get the settings that hapi gives them, each an object of its own', (t) => {
	const options: hapi.RouteOptions[] = [
		{ app: { endpoint: undefined } },
		{ payload: { output: 'stream', parse: false }, timeout: { server: 1000 } },
		{ auth: false, cache: { otherwise: 'no-store' } },
		{ response: { failAction: (_request, h) => h.continue } },
	];
	const expected = settingsOf(options);
	checkEqualRoutesOnce();
	t.deepEqual(settingsOf(options), expected);
	t.deepEqual(settingsOf(options), expected);
	const server = hapi.server();
	const marks = [{ mark: 1 }, { mark: 2 }] as unknown as hapi.RouteOptionsApp[];
	for (const app of marks)
		server.route({ method: 'GET', path: `/${marks.indexOf(app)}`, options: { app }, handler: () => '' });
	const [first, second] = ['/0', '/1'].map((path) => server.match('get', path)?.settings);
	t.deepEqual([first?.app, second?.app], marks);
	t.not(first?.validate, second?.validate);
});

test('a wrong option of a route is refused, also beside equal ones that are known', (t) => {
	checkEqualRoutesOnce();
	const server = hapi.server();
	for (const path of ['/a', '/b']) server.route({ method: 'GET', path, handler: () => '' });
	const wrong = { timeout: { server: 'soon' } } as unknown as hapi.RouteOptions;
	t.throws(() => server.route({ method: 'GET', path: '/c', options: wrong, handler: () => '' }), {
		message: /Invalid routeConfig options/,
	});
});
