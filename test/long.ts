/** Whether this is `npm run test:long`, which also runs what takes too long for each commit. */
export const isLong = process.env.TEST_LONG === 'yes';
