/** Whether this is `npm test`, in which some tests try fewer forms of the same than in `npm run test:thorough`, or alone. */
export const isEveryday = process.env.TEST_EVERYDAY === 'yes';
