import { Module } from '@nestjs/common';
import { PreferenceGuard } from './preference.guard.js';
import { ValidationPipe } from './validation.pipe.js';

/** From bodies and query strings to DTOs. */
@Module({ providers: [PreferenceGuard, ValidationPipe], exports: [PreferenceGuard, ValidationPipe] })
export class ValidationModule {}
