import { z } from 'zod';

// Zod compiles schemas with `new Function`, which the content security policy forbids. This module is imported before
// any schema is made, since a schema decides when it is made.
z.config({ jitless: true });
