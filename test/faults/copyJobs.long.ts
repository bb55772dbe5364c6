import test from 'ava';
import { openBrowser, openPage } from '../e2e/support/browser.js';
import { goOnAfterKill, watchBar } from './copyJobs.js';

test.serial('a copy of 20,000 files goes on after the server was killed, and its bar moves', async (t) => {
	const context = await openBrowser(t);
	const onlooker = watchBar(async (url, cookie) => {
		const [name = '', ...value] = cookie.split('=');
		await context.addCookies([{ name, value: value.join('='), url }]);
		const { page } = await openPage(context, `${url}/browser?type=private`);
		return page;
	});
	await goOnAfterKill(t, 20_000, onlooker);
});
