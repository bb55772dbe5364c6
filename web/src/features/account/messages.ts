/** The sentences of signing in and up. */
export const authMessages = {
	loginFailed: (reason: string) => `Login failed: ${reason}`,
	registrationFailed: (reason: string) => `Registration failed: ${reason}`,
	noAccountYet: 'No account yet?',
	haveAnAccount: 'Already have an account?',
	signInLead: 'Your files, wherever you are.',
	signUpLead: 'A private place for your files, and a public one to share them.',
	createOne: 'Create one',
	signInInstead: 'Use my account',
	confirmPassword: 'Confirm Password',
	pleaseWait: 'Please wait...',
} as const;
