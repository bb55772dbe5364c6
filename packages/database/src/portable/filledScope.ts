/** The scope of the keys of what a database was filled with, where what is to be done after it is not done yet. */
export const filledScope = 'restore';
