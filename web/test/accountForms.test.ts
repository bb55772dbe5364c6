import test from 'ava';
import { authFormReducer, emptyAuthForm, formError, maySubmit, serverError } from '../src/features/account/authForm.js';
import { changedSettings } from '../src/features/settings/useSettingsDraft.js';

const filled = { ...emptyAuthForm, username: 'ada', password: 'correct horse', confirm: 'correct horse' };

test('signing in needs a name and a password', (t) => {
	t.true(maySubmit({ ...filled, confirm: '' }, 'login'));
	t.false(maySubmit({ ...filled, username: '' }, 'login'));
	t.false(maySubmit({ ...filled, password: '' }, 'login'));
});

test('signing up needs the confirmation too', (t) => {
	t.true(maySubmit(filled, 'register'));
	t.false(maySubmit({ ...filled, confirm: '' }, 'register'));
});

test('a busy form is not submitted twice', (t) => {
	t.false(maySubmit(authFormReducer(filled, { type: 'submitted' }), 'login'));
});

test('a mismatch is found without the server, and only at registration', (t) => {
	t.is(formError({ ...filled, confirm: 'other' }, 'register'), 'Passwords do not match');
	t.is(formError({ ...filled, confirm: 'other' }, 'login'), undefined);
	t.is(formError(filled, 'register'), undefined);
});

test('errors begin with what failed', (t) => {
	t.is(serverError('login', 'Invalid username or password'), 'Login failed: Invalid username or password');
	t.is(serverError('register', 'Taken'), 'Registration failed: Taken');
});

test('a new try hides the old error; cancelling forgets everything', (t) => {
	const failed = authFormReducer(filled, { type: 'failed', error: 'No' });
	t.is(failed.error, 'No');
	t.is(authFormReducer(failed, { type: 'submitted' }).error, undefined);
	t.deepEqual(authFormReducer(failed, { type: 'reset' }), emptyAuthForm);
});

test('changing between sign in and sign up keeps the name only', (t) => {
	t.deepEqual(authFormReducer(filled, { type: 'modeChanged' }), { ...emptyAuthForm, username: 'ada' });
});

test('settings that were changed back are not changed', (t) => {
	const saved = { promptBeforeDownload: false, enablePreview: true };
	t.is(changedSettings(saved, {}), undefined);
	t.is(changedSettings(saved, { enablePreview: true }), undefined);
	t.deepEqual(changedSettings(saved, { enablePreview: true, promptBeforeDownload: true }), {
		promptBeforeDownload: true,
	});
});
