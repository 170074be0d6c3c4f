import { expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { OpenApiController, OpenApiDocument } from './openapi.controller.js';

@Module({})
class Empty {}

it('the OpenAPI document is created once, on first use', async () => {
  const document = new OpenApiDocument({ publicBaseUrl: undefined, docsUrl: undefined, stagingBaseUrl: undefined }, []);
  expect(() => document.value).toThrow('There is no app to describe.');
  document.describe(await NestFactory.create(Empty, new FastifyAdapter(), { logger: false }));
  const { text } = new OpenApiController(document).openApi();
  expect(text).toMatch(/^\{"openapi":"3\.1\.0"/);
  expect(document.text).toBe(document.text);
  expect(document.value).toBe(document.value);
});
