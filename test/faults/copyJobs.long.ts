import test from 'ava';
import { openBrowser, openPage } from '../e2e/support/browser.js';
import { copyAcrossKill, watchBar } from './copyJobs.js';

test.serial(
	'a copy job of 20,000 files continues after a kill of the server, and its progress bar moves',
	async (t) => {
		const context = await openBrowser(t);
		const observer = watchBar(async (url, cookie) => {
			const [name = '', ...value] = cookie.split('=');
			await context.addCookies([{ name, value: value.join('='), url }]);
			const { page } = await openPage(context, `${url}/browser?type=private`);
			return page;
		});
		await copyAcrossKill(t, 20_000, observer);
	},
);
