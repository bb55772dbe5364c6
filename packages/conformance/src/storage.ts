import type { StorageDriver } from '@stowage/plugin-api';
import type { ExecutionContext, TestFn } from 'ava';
import { changingRules } from './storage/changing.js';
import { copyingRules } from './storage/copying.js';
import { namingRules } from './storage/naming.js';
import { readingRules } from './storage/reading.js';
import { replacingRules } from './storage/replacing.js';
import { stagedCopyRules } from './storage/stagedCopies.js';
import { stagingRules } from './storage/staging.js';
import type { Rule } from './storage/steps.js';

export interface StorageUnderTest {
	/** A driver for an empty root of its own; `t.teardown` releases its resources. */
	driver: StorageDriver;
}

export type MakeStorageDriver = (t: ExecutionContext) => Promise<StorageUnderTest>;

/** The rules that every storage must pass, one test each. `name` begins the titles. */
export function storageSuite(test: TestFn, name: string, makeDriver: MakeStorageDriver): void {
	const assertThat: Rule = (title, check) => {
		test(`${name}: ${title}`, async (t) => {
			const { driver } = await makeDriver(t);
			const open = async (rootId?: string) => {
				const storage = await driver.open(rootId);
				t.teardown(() => storage.close());
				return storage;
			};
			const storage = await open();
			await check(t, storage, () => open(storage.rootId));
		});
	};
	readingRules(assertThat);
	stagingRules(assertThat);
	changingRules(assertThat);
	copyingRules(assertThat);
	stagedCopyRules(assertThat);
	namingRules(assertThat);
	replacingRules(assertThat);
}
